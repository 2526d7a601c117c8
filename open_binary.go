//go:build !js

package shmoo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/cubin"
	"shmoo/diag"
	"shmoo/emu"
	"shmoo/inspect"
	"shmoo/launch"
	"shmoo/report"
)

// Magic numbers of what holds machine code: ELF files, archives, fatbins.
var binaryMagic = [][]byte{[]byte("\x7fELF"), []byte("!<arch>\n"), {0x50, 0xed, 0x55, 0xba}}

// IsBinary reports whether data begins as a file does that may hold machine code.
func IsBinary(data []byte) bool {
	return slices.ContainsFunc(binaryMagic, func(magic []byte) bool { return bytes.HasPrefix(data, magic) })
}

func openBinary(ctx context.Context, in *Input, data []byte, o Options) error {
	f, err := cubin.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	defer f.Close()
	kernel, err := findKernel(ctx, f, in.Name, o)
	if err != nil {
		return err
	}
	a, err := arch.Lookup(fmt.Sprintf("sm_%d", kernel.Image.Arch))
	if err != nil {
		return fmt.Errorf("%s: %s: %w", in.Name, kernel.Demangled(), err)
	}
	in.Arch = o.on(a)
	in.Kernel = kernel.Demangled()
	given := launch.Launch{Grid: o.Grid, Block: o.Block, DynamicShared: o.DynamicShared, Args: o.Args}
	l, assumed, err := completeLaunch(kernel, &given)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", in.Name, in.Kernel, err)
	}
	in.Launch = &report.Launch{
		Block: l.Block, Grid: l.Grid, Blocks: max(1, len(o.Blocks)), DynamicShared: l.DynamicShared, Assumed: assumed,
	}
	in.Unit = in.Arch.Unit.WithSize(min(in.Arch.Unit.Size, kernel.SharedDynamicStart()-kernel.SharedReserved+l.DynamicShared))
	in.Source, err = newBinarySource(in, kernel, l, &o)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	in.Notes, err = widthNotes(kernel)
	return err
}

// widthNotes says where neighbouring accesses could have been a wider one, and what kept the compiler from it.
func widthNotes(k *cubin.Kernel) (diag.List, error) {
	const most = 3
	accesses, err := inspect.Sites(k)
	if err != nil {
		return nil, err
	}
	var list diag.List
	told := map[diag.Pos]bool{} // an unrolled loop has a run in every copy of its body
	for _, run := range accesses.Runs {
		site := accesses.Sites[run.Sites[0]]
		at := diag.Span{}
		if len(site.Frames) > 0 {
			at.Pos = diag.Pos{File: site.Frames[0].File, Line: site.Frames[0].Line}
		}
		if len(list) == most || at.IsValid() && told[at.Pos] {
			continue
		}
		told[at.Pos] = true
		list = append(list, &diag.Diagnostic{ID: "binary/width", Severity: diag.Note, Span: at,
			Message: fmt.Sprintf("%s at 0x%04x: %s", site.Instr, site.PC, run.Note)})
	}
	return list, nil
}

// findKernel returns the kernel that the options name. Of several targets it takes the one of the options, else that of
// arch.Default if there is code for it, else the newest.
func findKernel(ctx context.Context, f *cubin.File, name string, o Options) (*cubin.Kernel, error) {
	target, err := pickTarget(f, name, o.Arch)
	if err != nil {
		return nil, err
	}
	match, err := regexp.Compile(o.Kernel)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", o.Kernel, err)
	}
	type place struct {
		entry *cubin.Entry
		name  string
	}
	var found []place // images are gone when Each returns
	// One worker, so that kernels come in the order of the file.
	each := cubin.EachOptions{Workers: 1, Select: func(e *cubin.Entry) bool { return e.Kind == cubin.KindELF && e.Arch == target }}
	err = f.Each(ctx, each, func(_ int, img *cubin.Image) error {
		for _, k := range img.Kernels {
			switch {
			case k.Name == o.Kernel:
				found = []place{{img.Entry, k.Name}}
				return errFound
			case match.MatchString(k.Name) || match.MatchString(k.Demangled()):
				found = append(found, place{img.Entry, strings.Clone(k.Name)})
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case len(found) == 1:
		img, err := found[0].entry.Load()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return img.Kernel(found[0].name), nil
	case len(found) == 0 && o.Kernel != "":
		return nil, fmt.Errorf("%s: no kernel for sm_%d matches %q; shmoo ls lists them", name, target, o.Kernel)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no kernel found", name)
	}
	var names []string
	for _, p := range found {
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("%s: %d kernels for sm_%d, want one: name it with --kernel (%s)", name, len(found), target,
		firstNames(names))
}

// errFound stops the search for a kernel.
var errFound = errors.New("found")

func firstNames(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "...")
	}
	return strings.Join(names, ", ")
}

func pickTarget(f *cubin.File, name, wanted string) (int, error) {
	targets := f.Arches()
	if len(targets) == 0 {
		return 0, fmt.Errorf("%s: no machine code of a GPU found", name)
	}
	for _, want := range []string{wanted, arch.Default} {
		for _, t := range targets {
			if want != "" && strings.TrimRight(want, "af") == fmt.Sprintf("sm_%d", t) {
				return t, nil
			}
		}
		if want != "" && want == wanted {
			return 0, fmt.Errorf("%s: no machine code for %s, there is some for %s", name, wanted, smNames(targets))
		}
	}
	return slices.Max(targets), nil
}

func smNames(targets []int) string {
	var names []string
	for _, t := range targets {
		names = append(names, fmt.Sprintf("sm_%d", t))
	}
	return strings.Join(names, ", ")
}

// Typical values for what a launch does not give. They are named in the report, since every number depends on them.
const (
	assumedThreads = 128
	assumedScalar  = 64
)

// completeLaunch fills in what a launch leaves out and says what was assumed.
func completeLaunch(k *cubin.Kernel, given *launch.Launch) (*launch.Launch, string, error) {
	l := *given
	l.Args = slices.Clone(given.Args)
	var assumed []string
	if l.Block == ([3]int{}) {
		var why string
		l.Block, why = assumedBlock(k)
		assumed = append(assumed, why)
	}
	l.Grid = filled(l.Grid)
	has := map[int]bool{}
	for i := range l.Args {
		has[l.Args[i].Index] = true
	}
	types := k.ParamTypes()
	var pointers, scalars []string
	for i, p := range k.Params {
		if has[i] {
			continue
		}
		pointer := p.Size == 8
		if i < len(types) && types[i] != "" {
			pointer = strings.HasSuffix(types[i], "*")
		}
		switch text := fmt.Sprintf("%d:", i); {
		case pointer:
			pointers = append(pointers, fmt.Sprint(i))
			if err := l.Add(text + "ptr"); err != nil {
				return nil, "", err
			}
		case p.Size == 4 || p.Size == 8:
			scalars = append(scalars, fmt.Sprint(i))
			if err := l.Add(fmt.Sprintf("%si%d=%d", text, p.Size*8, assumedScalar)); err != nil {
				return nil, "", err
			}
		}
	}
	if pointers != nil {
		assumed = append(assumed, "arguments "+strings.Join(pointers, ", ")+" point to unknown data")
	}
	if scalars != nil {
		assumed = append(assumed, fmt.Sprintf("arguments %s = %d", strings.Join(scalars, ", "), assumedScalar))
	}
	if assumed != nil {
		return &l, "ASSUMED: " + strings.Join(assumed, "; "), nil
	}
	return &l, "", nil
}

// assumedBlock returns the block of a launch that does not give one.
func assumedBlock(k *cubin.Kernel) ([3]int, string) {
	if k.ReqThreads != ([3]int{}) {
		return k.ReqThreads, "the block that the kernel requires"
	}
	if k.MaxThreads != ([3]int{}) {
		return k.MaxThreads, "the block of the kernel's launch bounds"
	}
	return [3]int{assumedThreads, 1, 1}, fmt.Sprintf("block %d", assumedThreads)
}

// A binarySource runs a kernel's machine code. Kernels write into their buffers, so every run gets fresh ones.
type binarySource struct {
	program *emu.Program
	launch  *launch.Launch
	params  int
	blocks  []int
	options emu.Options
	result  *emu.Result // of the last run
}

func newBinarySource(in *Input, k *cubin.Kernel, l *launch.Launch, o *Options) (*binarySource, error) {
	program, err := emu.NewProgram(codeOf(k))
	if err != nil {
		return nil, err
	}
	s := &binarySource{program: program, launch: l, params: len(k.Params), blocks: o.Blocks,
		options: emu.Options{Unit: in.Unit, Parallel: 2, Limits: emu.Limits{Steps: o.Steps}}}
	_, err = s.run() // a launch that cannot be made is an error of opening it
	return s, err
}

// Emulated returns what the emulator found in the last run of a binary's kernel by Analyze, nil for other inputs and before.
func (in *Input) Emulated() *emu.Result {
	if s, ok := in.Source.(*binarySource); ok {
		return s.result
	}
	return nil
}

func (s *binarySource) run() (*emu.Source, error) {
	args, err := s.launch.Values(s.params)
	if err != nil {
		return nil, err
	}
	return emu.NewSource(s.program, emu.Launch{
		Grid: s.launch.Grid, Block: s.launch.Block, DynamicShared: s.launch.DynamicShared, Args: args, Blocks: s.blocks,
	}, s.options)
}

// Sites implements access.Source.
func (s *binarySource) Sites() []access.Site { return s.program.Sites() }

// Arrays implements access.Source: linked code names none.
func (s *binarySource) Arrays() []access.Array { return nil }

// Accesses implements access.Source.
func (s *binarySource) Accesses(ctx context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		source, err := s.run()
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { s.result = source.Result() }()
		for a, err := range source.Accesses(ctx) {
			if !yield(a, err) {
				return
			}
		}
	}
}

// stopped implements runner: a kernel that faults or reaches a limit has a report all the same.
func (s *binarySource) stopped(err error) *diag.Diagnostic {
	if fault, ok := errors.AsType[*emu.Fault](err); ok {
		return diag.Errorf("emu/fault", diag.Span{}, "%v", fault)
	}
	if limit, ok := errors.AsType[*emu.LimitError](err); ok {
		return diag.Errorf("emu/limit", diag.Span{}, "%v: what follows covers the run until then", limit)
	}
	return nil
}

// annotate implements runner.
func (s *binarySource) annotate(r *report.Report) {
	if s.result == nil {
		return
	}
	for i := range s.result.Sites {
		if c := &s.result.Sites[i]; c.Unresolved > 0 && c.High > 0 {
			r.Sites[i].Bounds = &report.Bounds{Low: c.Low, High: c.High, Open: c.Unbounded}
		}
	}
	unsupported := map[string]int64{}
	for _, op := range s.result.Unsupported {
		unsupported[op.Op] += op.Count
	}
	for _, op := range slices.Sorted(maps.Keys(unsupported)) {
		r.Diagnostics = append(r.Diagnostics, diag.Warningf("emu/unsupported", diag.Span{},
			"no semantics for %s: executed %d times, its results are unknown", op, unsupported[op]))
	}
	if n := len(s.result.Branches); n > 0 {
		r.Diagnostics = append(r.Diagnostics, diag.Warningf("emu/branch", diag.Span{}, "%d branches depend on unknown data, "+
			"the first at 0x%04x: both sides were followed; give the data with --arg", n, s.result.Branches[0].PC))
	}
}
