package gpu

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestErrors(t *testing.T) {
	cause := errors.New("libcuda.so.1: cannot open shared object file")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&NoDriverError{Reason: "no CUDA driver", Err: cause},
			"no usable GPU: no CUDA driver: libcuda.so.1: cannot open shared object file"},
		{&NoDriverError{Reason: "the driver has no device"}, "no usable GPU: the driver has no device"},
		{&CallError{Call: "cuMemAlloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory"},
			"cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY, status 2)"},
		{&CallError{Call: "nvmlInit", Code: 9}, "nvmlInit: (status 9)"},
		{&CompileError{Name: "k.cu", Log: "k.cu(1): error: expected a \";\"\n"}, `k.cu: k.cu(1): error: expected a ";"`},
		{&CompileError{Name: "k.ptx"}, "k.ptx: refused by the compiler without a message"},
		{&HungError{After: 1500*time.Millisecond + 3}, "kernel still running after 1.5s, gave up waiting"},
		{&NotRecordedError{File: "r.csv", Sample: Sample{Op: "ld32", Active: 3}},
			"r.csv: no sample of ld32 with mask 00000003 and these addresses"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if !errors.Is(fmt.Errorf("probe: %w", &NoDriverError{Err: cause}), cause) {
		t.Error("the cause of a NoDriverError is lost")
	}
}

func TestFault(t *testing.T) {
	for code, want := range map[int]bool{0: false, 2: false, 218: false, 600: false, 700: true, 701: false, 702: true,
		710: true, 713: false, 715: true, 716: true, 719: true, 720: false, 999: false} {
		if got := (&CallError{Code: code}).Fault(); got != want {
			t.Errorf("Fault of status %d is %v, want %v", code, got, want)
		}
	}
}

func TestDimCount(t *testing.T) {
	for d, want := range map[Dim]int{{}: 1, {X: 7}: 7, {X: 2, Z: 3}: 6, {2, 3, 4}: 24} {
		if got := d.Count(); got != want {
			t.Errorf("%v has %d elements, want %d", d, got, want)
		}
	}
}
