//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

// A call is an index into its library's table.
type call int

// A signature is a function of a C library. Every function returns a status, 0 for success. args has a letter per argument:
//
//	i  int or enum, 32 bits
//	u  unsigned int, 32 bits
//	z  size_t, device address or handle, 64 bits
//	p  pointer to memory of this process, valid during the call
//	s  text, passed with a final NUL
//
// A function marked optional may be missing from an old library; calling it then fails.
type signature struct {
	name     string
	args     string
	optional bool
}

// Calls of the driver (CUDA Driver API reference; the suffix is the version that the current header selects).
const (
	cuInit call = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUUID
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuCtxCreate
	cuCtxDestroy
	cuCtxSetCurrent
	cuModuleLoad
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuLinkCreate
	cuLinkAdd
	cuLinkComplete
	cuLinkDestroy
	cuMemAlloc
	cuMemFree
	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemset
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventElapsed
	cuLaunchKernel
)

var driverCalls = []signature{
	cuInit:               {"cuInit", "u", false},
	cuDriverGetVersion:   {"cuDriverGetVersion", "p", false},
	cuGetErrorName:       {"cuGetErrorName", "ip", false},
	cuGetErrorString:     {"cuGetErrorString", "ip", false},
	cuDeviceGetCount:     {"cuDeviceGetCount", "p", false},
	cuDeviceGet:          {"cuDeviceGet", "pi", false},
	cuDeviceGetName:      {"cuDeviceGetName", "pii", false},
	cuDeviceGetUUID:      {"cuDeviceGetUuid_v2", "pi", true},
	cuDeviceGetAttribute: {"cuDeviceGetAttribute", "pii", false},
	cuDeviceTotalMem:     {"cuDeviceTotalMem_v2", "pi", false},
	cuCtxCreate:          {"cuCtxCreate_v2", "pui", false},
	cuCtxDestroy:         {"cuCtxDestroy_v2", "z", false},
	cuCtxSetCurrent:      {"cuCtxSetCurrent", "z", false},
	cuModuleLoad:         {"cuModuleLoadDataEx", "ppupp", false},
	cuModuleUnload:       {"cuModuleUnload", "z", false},
	cuModuleGetFunction:  {"cuModuleGetFunction", "pzs", false},
	cuFuncGetAttribute:   {"cuFuncGetAttribute", "piz", false},
	cuFuncSetAttribute:   {"cuFuncSetAttribute", "zii", false},
	cuLinkCreate:         {"cuLinkCreate_v2", "uppp", false},
	cuLinkAdd:            {"cuLinkAddData_v2", "zipzsupp", false},
	cuLinkComplete:       {"cuLinkComplete", "zpp", false},
	cuLinkDestroy:        {"cuLinkDestroy", "z", false},
	cuMemAlloc:           {"cuMemAlloc_v2", "pz", false},
	cuMemFree:            {"cuMemFree_v2", "z", false},
	cuMemcpyHtoD:         {"cuMemcpyHtoD_v2", "zpz", false},
	cuMemcpyDtoH:         {"cuMemcpyDtoH_v2", "pzz", false},
	cuMemset:             {"cuMemsetD8_v2", "zuz", false},
	cuEventCreate:        {"cuEventCreate", "pu", false},
	cuEventDestroy:       {"cuEventDestroy_v2", "z", false},
	cuEventRecord:        {"cuEventRecord", "zz", false},
	cuEventQuery:         {"cuEventQuery", "z", false},
	cuEventElapsed:       {"cuEventElapsedTime", "pzz", false},
	cuLaunchKernel:       {"cuLaunchKernel", "zuuuuuuuzpp", false},
}

// Calls of NVRTC (NVRTC reference).
const (
	nvrtcVersion call = iota
	nvrtcGetErrorString
	nvrtcCreateProgram
	nvrtcDestroyProgram
	nvrtcCompileProgram
	nvrtcGetCUBINSize
	nvrtcGetCUBIN
	nvrtcGetProgramLogSize
	nvrtcGetProgramLog
)

var nvrtcCalls = []signature{
	nvrtcVersion:           {"nvrtcVersion", "pp", false},
	nvrtcGetErrorString:    {"nvrtcGetErrorString", "i", false},
	nvrtcCreateProgram:     {"nvrtcCreateProgram", "pssipp", false},
	nvrtcDestroyProgram:    {"nvrtcDestroyProgram", "p", false},
	nvrtcCompileProgram:    {"nvrtcCompileProgram", "zip", false},
	nvrtcGetCUBINSize:      {"nvrtcGetCUBINSize", "zp", false},
	nvrtcGetCUBIN:          {"nvrtcGetCUBIN", "zp", false},
	nvrtcGetProgramLogSize: {"nvrtcGetProgramLogSize", "zp", false},
	nvrtcGetProgramLog:     {"nvrtcGetProgramLog", "zp", false},
}

// Calls of NVML (NVML reference).
const (
	nvmlInit call = iota
	nvmlErrorString
	nvmlSystemGetDriverVersion
	nvmlDeviceGetHandleByUUID
	nvmlDeviceGetClock
	nvmlDeviceGetTemperature
	nvmlDeviceGetPowerUsage
	nvmlDeviceGetClockLimits
	nvmlDeviceGetComputeProcesses
)

var nvmlCalls = []signature{
	nvmlInit:                   {"nvmlInit_v2", "", false},
	nvmlErrorString:            {"nvmlErrorString", "i", false},
	nvmlSystemGetDriverVersion: {"nvmlSystemGetDriverVersion", "pu", false},
	nvmlDeviceGetHandleByUUID:  {"nvmlDeviceGetHandleByUUID", "sp", false},
	nvmlDeviceGetClock:         {"nvmlDeviceGetClockInfo", "zip", false},
	nvmlDeviceGetTemperature:   {"nvmlDeviceGetTemperature", "zip", false},
	nvmlDeviceGetPowerUsage:    {"nvmlDeviceGetPowerUsage", "zp", true},
	// Renamed to ...EventReasons in 2024; the old name stays.
	nvmlDeviceGetClockLimits:      {"nvmlDeviceGetCurrentClocksThrottleReasons", "zp", true},
	nvmlDeviceGetComputeProcesses: {"nvmlDeviceGetComputeRunningProcesses_v3", "zpp", true},
}
