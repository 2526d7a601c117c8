package emu

import (
	"context"
	"errors"
	"testing"

	"shmoo/sass"
)

// FuzzRun executes arbitrary code, mostly instructions of real kernels shuffled and damaged. Whatever it does must end within the limits
// in a result or one of the package's errors.
func FuzzRun(f *testing.F) {
	for _, target := range []string{"75", "80", "90", "120"} {
		img := readCubin(f, "testdata/kernels.sm_"+target+".cubin.gz")
		for _, k := range img.Kernels {
			f.Add(uint8(k.Image.Arch), k.Code[:min(len(k.Code), 2048)])
		}
	}
	f.Fuzz(func(t *testing.T, target uint8, text []byte) {
		if len(text) > 4096 {
			text = text[:4096]
		}
		text = text[:len(text)/instSize*instSize]
		code := Code{Name: "fuzz", Arch: int(target), Text: text, SharedStatic: 512, Params: []Param{{0, 8}, {8, 8}, {16, 4}},
			Constants: map[int][]byte{2: {0, 0, 0, 0, 16, 0, 0, 0}},
			Indirect:  []IndirectBranch{{PC: 32, Targets: []uint32{0, 48, 5, 1 << 30}}}}
		p, err := NewProgram(code)
		if err != nil {
			if sass.Arch(target).Known() && len(text) > 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		launch := Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{40, 1, 1}, DynamicShared: 512,
			Args: []Arg{Buffer(make([]byte, 4096)), Pointer(), Int32(3)}}
		limits := Limits{Steps: 3000, LocalBytes: 4096, Forks: 32}
		_, err = Run(context.Background(), p, launch, Options{Limits: limits}, func(e *Event) bool {
			if e.Active == 0 || e.Known&^e.Active != 0 || e.Sure&^e.Active != 0 {
				t.Fatalf("event %+v", e)
			}
			return true
		})
		var fault *Fault
		var limit *LimitError
		if err != nil && !errors.As(err, &fault) && !errors.As(err, &limit) {
			t.Fatal(err)
		}
	})
}
