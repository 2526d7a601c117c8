package inspect

import (
	"fmt"
	"regexp"
	"strconv"

	"shmoo/cubin"
	"shmoo/sass"
)

// Options selects what to look at. The zero value is everything.
type Options struct {
	Arch     int            // 86 for sm_86; 0: all
	Kernel   *regexp.Regexp // matches the mangled or the demangled name; nil: all
	Workers  int            // goroutines; 0: one a CPU
	Memory   int64          // bytes of images loaded at once, as in cubin.EachOptions
	Progress func(done, total int)
}

// ParseArch reads an architecture as users write it, "86", "sm_86" or "sm_120a", for Options.Arch. "" is 0.
func ParseArch(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	a, err := sass.ParseArch(s)
	return int(a), err
}

func (o *Options) each() cubin.EachOptions {
	return cubin.EachOptions{
		Workers: o.Workers, Memory: o.Memory, Progress: o.Progress,
		// An architecture of 0 is known only once the entry is loaded.
		Select: func(e *cubin.Entry) bool { return o.Arch == 0 || e.Arch == 0 || e.Arch == o.Arch },
	}
}

// wants tells whether a kernel is selected.
func (o *Options) wants(k *cubin.Kernel) bool {
	if o.Arch != 0 && k.Image.Arch != o.Arch {
		return false
	}
	return o.Kernel == nil || o.Kernel.MatchString(k.Name) || o.Kernel.MatchString(k.Demangled())
}

// ErrArch is returned for machine code of a generation that has no decoder.
type ErrArch struct {
	Kernel string
	Arch   int
}

// Error names the kernel and the generation.
func (e *ErrArch) Error() string {
	return fmt.Sprintf("kernel %s: sm_%s: want sm_70 to sm_121", e.Kernel, strconv.Itoa(e.Arch))
}

// archOf returns the decoder's name for a kernel's generation.
func archOf(k *cubin.Kernel) (sass.Arch, error) {
	a := k.Image.Arch
	if a <= 0 || a > 255 || !sass.Arch(a).Known() {
		return 0, &ErrArch{Kernel: k.Name, Arch: a}
	}
	return sass.Arch(a), nil
}
