//go:build !nogpu && (amd64 || arm64)

package cuda

import "github.com/ebitengine/purego"

// Where the libraries are found: by the system's own search first, then where containers and WSL mount the driver.
var (
	driverFiles = []string{
		"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
	}
	nvmlFiles = []string{
		"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
	}
	nvrtcFiles = []string{
		"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so",
		"/opt/cuda/lib64/libnvrtc.so",
	}
)

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func findSymbol(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }
