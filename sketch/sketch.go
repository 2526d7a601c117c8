package sketch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"shmoo/access"
	"shmoo/diag"
)

// A Define gives a name a value, as -D NAME=VALUE does. It wins over a #define of the source, and it sets template
// parameters, kernel parameters and constants of that name.
type Define struct {
	Name, Value string
}

// Limits bound what a sketch may take. The zero value of a field means its default.
type Limits struct {
	Source int   // bytes of source: 4 MiB
	Tokens int   // tokens before and after the preprocessor: 400,000
	Nodes  int   // operations after inlining: 200,000
	Memory int   // bytes of lane values: 128 MiB
	Steps  int64 // operations one warp may run: 40,000,000
	Blocks int   // blocks of one run: 1,000,000
}

func (l *Limits) fill() {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&l.Source, 4<<20)
	set(&l.Tokens, 400_000)
	set(&l.Nodes, 200_000)
	set(&l.Memory, 128<<20)
	set(&l.Blocks, 1_000_000)
	if l.Steps <= 0 {
		l.Steps = 40_000_000
	}
}

// Options say how a sketch is read.
type Options struct {
	Defines []Define
	// Include returns the text of a file that the source includes in quotes, or an error that is fs.ErrNotExist to pass it
	// over. Each name is asked for once. Where Include is nil all #include lines are passed over, as those in angle
	// brackets always are.
	Include func(name string) ([]byte, error)
	Lanes   int // lanes of a warp: 32 (default) or 64
	Limits  Limits
}

// A Launch says what is run. The zero value of a field means its default.
type Launch struct {
	Kernel string // may be empty when the source has one kernel
	Block  [3]int // threads of a block; default: the launch bounds if they are constant, else one warp
	Grid   [3]int // blocks of the grid: 1, 1, 1
	// Blocks lists the linear indices of the blocks that run; default: block 0. AllBlocks runs the whole grid.
	Blocks    []int
	AllBlocks bool
	// DynamicShared is the size of extern shared arrays in bytes; 0 leaves them open.
	DynamicShared int
}

// A Kernel is a __global__ function of a sketch, or the statements of one without functions.
type Kernel struct {
	Name string
	Pos  diag.Span
	// MaxThreads is the first launch bound, or 0 where there is none or it depends on a template parameter without value.
	MaxThreads int
	// Params names the template parameters that have no value, neither a default nor one from a Define.
	Params []string
	decl   *funcDecl
}

// A Program is a parsed sketch. It may be used from several goroutines.
type Program struct {
	file     *file
	opts     Options
	toks     []token
	kernels  []Kernel
	warnings diag.List
}

// Parse reads a sketch. The error is a diag.List. name is used in positions.
func Parse(name string, src []byte, opts Options) (*Program, error) {
	opts.Limits.fill()
	if opts.Lanes == 0 {
		opts.Lanes = 32
	}
	f := &file{name: name, src: string(src)}
	ds := &diags{file: f}
	if opts.Lanes != 32 && opts.Lanes != 64 {
		ds.errorf("sketch/options", span{}, "warp of %d lanes, want 32 or 64", opts.Lanes)
		return nil, ds.list
	}
	if len(src) > opts.Limits.Source {
		f.src = ""
		ds.errorf("sketch/limit", span{line: 1, col: 1}, "source has %d bytes, want at most %d", len(src), opts.Limits.Source)
		return nil, ds.list
	}
	toks := lex(f, ds, opts.Limits.Tokens)
	if ds.errors == 0 {
		toks = preprocess(f, ds, toks, &opts)
	}
	if ds.errors > 0 {
		return nil, ds.list
	}
	p := &Program{file: f, opts: opts, toks: toks}
	parser := p.parse(ds)
	if ds.errors > 0 {
		return nil, ds.list
	}
	p.list(parser, ds)
	if len(p.kernels) == 0 {
		ds.errorf("sketch/empty", span{line: 1, col: 1},
			"nothing to run, want a __global__ function or statements such as __shared__ float t[32]; t[threadIdx.x];")
		return nil, ds.list
	}
	p.warnings = ds.list
	return p, nil
}

// parse builds a syntax tree of its own for one compilation.
func (p *Program) parse(ds *diags) *parser {
	toks := make([]token, len(p.toks))
	copy(toks, p.toks)
	parser := newParser(p.file, ds, toks)
	parser.parseUnit()
	return parser
}

// list finds the kernels and their launch bounds.
func (p *Program) list(parser *parser, ds *diags) {
	for _, f := range parser.unit.order {
		if f.kernel {
			p.kernels = append(p.kernels, p.describe(parser, f))
		}
	}
	if b := parser.unit.bare; b != nil {
		p.kernels = append(p.kernels, p.describe(parser, b))
	}
}

func (p *Program) describe(parser *parser, f *funcDecl) Kernel {
	k := Kernel{Name: f.name, Pos: p.file.place(f.span), decl: f}
	for _, t := range f.tparams {
		if len(t.given) == 0 && t.def.ty == nil && t.def.x == nil {
			k.Params = append(k.Params, t.name)
		}
	}
	if len(f.bounds) == 0 {
		return k
	}
	quiet := &diags{file: p.file}
	c := newCompiler(p, parser, quiet, &launch{block: [3]int{p.opts.Lanes, 1, 1}, grid: [3]int{1, 1, 1}})
	func() {
		defer rescue()
		c.frame.decl = f
		c.scope = c.kernelScope(f)
		if v := c.constant(f.bounds[0], "a launch bound"); v > 0 && v <= maxThreads {
			k.MaxThreads = int(v)
		}
	}()
	return k
}

// maxThreads is the most threads that a block has (CUDA C++ Programming Guide, technical specifications).
const maxThreads = 1024

// Kernels returns the kernels in source order.
func (p *Program) Kernels() []Kernel { return p.kernels }

// Kernel returns the kernel of a name; "" stands for the only one.
func (p *Program) Kernel(name string) (*Kernel, error) {
	var names []string
	for i := range p.kernels {
		if k := &p.kernels[i]; k.Name == name || name == "" && len(p.kernels) == 1 {
			return k, nil
		}
		names = append(names, p.kernels[i].Name)
	}
	if name == "" {
		return nil, fmt.Errorf("%s: %d kernels, want the name of one: %s", p.file.name, len(names), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: no kernel '%s', want one of %s", p.file.name, clip(name), strings.Join(names, ", "))
}

// DefaultBlock returns the block that a launch without one gets: the launch bounds, or one warp.
func (p *Program) DefaultBlock(k *Kernel) [3]int {
	if k.MaxThreads > 0 {
		return [3]int{k.MaxThreads, 1, 1}
	}
	return [3]int{p.opts.Lanes, 1, 1}
}

// Line returns a line of the source, for quoting in diagnostics.
func (p *Program) Line(pos diag.Pos) (string, bool) {
	f := p.file.find(pos.File)
	if f == nil || pos.Line < 1 {
		return "", false
	}
	rest := f.src
	for n := 1; n < pos.Line; n++ {
		i := strings.IndexByte(rest, '\n')
		if i < 0 {
			return "", false
		}
		rest = rest[i+1:]
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSuffix(line, "\r"), true
}

// A Source is a kernel ready to run for one launch. It implements access.Source.
type Source struct {
	program  *Program
	kernel   *Kernel
	launch   launch
	blocks   []int // nil: the whole grid
	code     *code
	sites    []access.Site
	arrays   []access.Array
	warnings diag.List

	mu   sync.Mutex
	busy bool // code is in use
}

// Source compiles a kernel for a launch. What the sketch language does not cover, and what is not constant but must be,
// is a diag.List; a launch that makes no sense is a plain error.
func (p *Program) Source(l Launch) (*Source, error) {
	k, err := p.Kernel(l.Kernel)
	if err != nil {
		return nil, err
	}
	s := &Source{program: p, kernel: k}
	if err := s.plan(l); err != nil {
		return nil, err
	}
	code, ds := p.compile(k, &s.launch)
	if err := ds.list.Err(); err != nil {
		return nil, err
	}
	s.code, s.warnings = code, append(p.warnings[:len(p.warnings):len(p.warnings)], ds.list...)
	s.describe()
	return s, nil
}

// plan checks the launch and fills in defaults.
func (s *Source) plan(l Launch) error {
	if l.Block == ([3]int{}) {
		l.Block = s.program.DefaultBlock(s.kernel)
	}
	for i := range 3 {
		if l.Block[i] == 0 {
			l.Block[i] = 1
		}
		if l.Grid[i] == 0 {
			l.Grid[i] = 1
		}
		if l.Block[i] < 0 || l.Block[i] > maxThreads {
			return fmt.Errorf("block of %v threads, want 1 to %d in all", l.Block, maxThreads)
		}
		if l.Grid[i] < 0 || l.Grid[i] > 1<<31-1 {
			return fmt.Errorf("grid of %v blocks, want 1 to 2147483647 in each direction", l.Grid)
		}
	}
	s.launch = launch{block: l.Block, grid: l.Grid, dynamic: l.DynamicShared}
	if n := s.launch.threads(); n > maxThreads {
		return fmt.Errorf("block of %v is %d threads, want 1 to %d", l.Block, n, maxThreads)
	}
	if l.DynamicShared < 0 || l.DynamicShared > 1<<30 {
		return fmt.Errorf("%d bytes of dynamic shared memory, want 0 or more", l.DynamicShared)
	}
	total := l.Grid[0] * l.Grid[1]
	if total > s.program.opts.Limits.Blocks || total*l.Grid[2] > s.program.opts.Limits.Blocks {
		total = s.program.opts.Limits.Blocks + 1
	} else {
		total *= l.Grid[2]
	}
	switch {
	case l.AllBlocks && total > s.program.opts.Limits.Blocks:
		return fmt.Errorf("grid of %v has more than %d blocks, want fewer, or a list of blocks", l.Grid,
			s.program.opts.Limits.Blocks)
	case l.AllBlocks:
		s.blocks = make([]int, total)
		for i := range s.blocks {
			s.blocks[i] = i
		}
	case len(l.Blocks) == 0:
		s.blocks = []int{0}
	default:
		for _, b := range l.Blocks {
			if b < 0 || total <= s.program.opts.Limits.Blocks && b >= total {
				return fmt.Errorf("block %d of a grid of %v, want 0 to %d", b, l.Grid, total-1)
			}
		}
		s.blocks = l.Blocks
	}
	return nil
}

// compile makes code for one run at a time.
func (p *Program) compile(k *Kernel, l *launch) (*code, *diags) {
	ds := &diags{file: p.file}
	parser := p.parse(ds)
	c := newCompiler(p, parser, ds, l)
	decl := parser.unit.bare
	for _, f := range parser.unit.order {
		if f.kernel && f.name == k.Name && f.span == k.decl.span {
			decl = f
		}
	}
	func() {
		defer rescue()
		c.kernel(decl)
	}()
	return c.code, ds
}

// Kernel returns the kernel that the source runs.
func (s *Source) Kernel() *Kernel { return s.kernel }

// Block returns the block that the source runs.
func (s *Source) Block() [3]int { return s.launch.block }

// Sites implements access.Source.
func (s *Source) Sites() []access.Site { return s.sites }

// Arrays implements access.Source.
func (s *Source) Arrays() []access.Array { return s.arrays }

// SharedBytes returns the static shared memory of the kernel and what the launch adds.
func (s *Source) SharedBytes() (static, dynamic int) { return int(s.code.static), s.launch.dynamic }

// Warnings returns what was noticed while parsing and compiling and does not stop the run.
func (s *Source) Warnings() diag.List { return s.warnings }

// A Declaration tells where the parts of a shared array's declaration are, for whoever rewrites it.
type Declaration struct {
	Name diag.Span
	Dims []Dimension // outermost first
}

// A Dimension is one array bound.
type Dimension struct {
	Length int       // -1 when open
	Span   diag.Span // of the expression between the brackets
	Text   string
	// Editable is false when the bound is missing, runs over lines or comes out of a macro.
	Editable bool
}

// Decl returns the declaration of Arrays()[array].
func (s *Source) Decl(array int) Declaration {
	a := s.code.arrays[array]
	d := Declaration{Name: s.program.file.place(a.span)}
	for _, dim := range a.dims {
		d.Dims = append(d.Dims, Dimension{dim.n, s.program.file.place(dim.at), s.program.file.text(dim.at),
			dim.ok && s.editable(dim.at)})
	}
	return d
}

// An Index is an index expression of an access.
type Index struct {
	Span diag.Span
	Text string
	// Editable is false when the expression runs over lines or comes out of a macro.
	Editable bool
}

// IndexSpans returns the index expressions of Sites()[site] as written, outermost first. Accesses through pointers have
// those applied to the pointer, and none for *p.
func (s *Source) IndexSpans(site int) []Index {
	var out []Index
	for _, at := range s.code.sites[site].indexes {
		out = append(out, Index{s.program.file.place(at), s.program.file.text(at), s.editable(at)})
	}
	return out
}

func (s *Source) editable(at span) bool {
	f := s.program.file.of(at)
	return !at.macro && at.off >= 0 && int(at.end) <= len(f.src) && at.end > at.off &&
		!strings.Contains(f.src[at.off:at.end], "\n")
}

// describe fills the site and array tables.
func (s *Source) describe() {
	f := s.program.file
	for _, ref := range s.code.sites {
		site := access.Site{Pos: f.place(ref.span), Op: ref.op, Width: ref.width, Instr: ref.name(), Text: f.text(ref.span),
			Inlined: ref.chain}
		if a, _ := ref.from.resolve(); a != nil {
			site.Array = a.name
		}
		if ref.text != "" {
			site.Text = ref.text
		}
		if ref.pieces > 1 {
			site.Text += fmt.Sprintf(" (bytes %d to %d)", ref.offset, ref.offset+ref.width-1)
		}
		s.sites = append(s.sites, site)
	}
	for _, a := range s.code.arrays {
		array := access.Array{Name: a.name, Pos: f.place(a.span), Offset: int(a.off), Size: a.ty.size, Type: a.ty.name,
			Dynamic: a.dynamic}
		elem := a.ty
		for elem.kind == kindArray {
			array.Dims = append(array.Dims, elem.n)
			elem = elem.elem
		}
		array.ElemBytes = elem.size
		if a.dynamic {
			array.Size = s.launch.dynamic
		}
		s.arrays = append(s.arrays, array)
	}
}

// Accesses implements access.Source. Warps run one after another, each to its end: what one writes to shared memory is
// not seen by the others, since contents are not followed.
func (s *Source) Accesses(ctx context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		code, release, err := s.take()
		if err != nil {
			yield(nil, err)
			return
		}
		defer release()
		m := newMachine(code)
		m.yield = yield
		warps := (s.launch.threads() + code.lanes - 1) / code.lanes
		for _, block := range s.blocks {
			for warp := range warps {
				if err := isCancelled(ctx); err != nil {
					yield(nil, err)
					return
				}
				m.runWarp(&s.launch, block, warp, ctx)
				if m.stopped {
					return
				}
				if m.err != nil {
					yield(nil, diag.List{m.err})
					return
				}
				if m.cancelled != nil {
					yield(nil, m.cancelled)
					return
				}
			}
		}
	}
}

// take hands out the compiled code, or a copy of it while it is in use.
func (s *Source) take() (*code, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy {
		s.busy = true
		return s.code, func() {
			s.mu.Lock()
			s.busy = false
			s.mu.Unlock()
		}, nil
	}
	code, ds := s.program.compile(s.kernel, &s.launch)
	if err := ds.list.Err(); err != nil {
		return nil, nil, errors.Join(errors.New("sketch: compiling again"), err)
	}
	return code, func() {}, nil
}
