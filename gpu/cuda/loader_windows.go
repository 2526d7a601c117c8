//go:build !nogpu && (amd64 || arm64)

package cuda

import "syscall"

// Where the libraries are found. The driver and NVML are in the system directory, NVRTC on the path.
var (
	driverFiles = []string{"nvcuda.dll"}
	nvmlFiles   = []string{"nvml.dll"}
	nvrtcFiles  = []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll"}
)

func openLibrary(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

func findSymbol(library uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(library), name)
}
