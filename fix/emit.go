package fix

import (
	"fmt"
	"io"
	"strings"

	"shmoo/layout"
)

// Form is a notation that a fix can be written in.
type Form string

// The forms.
const (
	CUDA   Form = "cuda"   // a constexpr index function in CUDA C++
	CuTe   Form = "cute"   // a CuTe layout
	Python Form = "python" // an index function for TileLang and other Python front ends
	Triton Form = "triton" // a shared encoding
)

// Forms returns all of them.
func Forms() []Form { return []Form{CUDA, CuTe, Python, Triton} }

// FormError reports a layout that a form has no words for.
type FormError struct {
	Form Form
	Msg  string
}

func (e *FormError) Error() string { return fmt.Sprintf("fix: %s: %s", e.Form, e.Msg) }

// Emit writes a candidate of the result in the given form. It returns a *FormError where the form cannot say it.
func Emit(w io.Writer, r *Result, c *Candidate, form Form) error {
	emit, ok := map[Form]func(*emission) error{
		CUDA: (*emission).cuda, CuTe: (*emission).cute, Python: (*emission).python, Triton: (*emission).triton,
	}[form]
	if !ok {
		return &FormError{form, fmt.Sprintf("unknown form, want one of %v", Forms())}
	}
	e, err := newEmission(r, c, form)
	if err != nil {
		return err
	}
	if err := emit(e); err != nil {
		return err
	}
	_, err = io.WriteString(w, e.out.String())
	return err
}

// emission is a candidate on its way to text.
type emission struct {
	form   Form
	result *Result
	c      *Candidate
	name   string           // an identifier
	t      layout.Transform // on elements
	elem   int
	dims   []int
	count  int           // elements after the change
	shape  layout.Layout // coordinates, in the order of the declaration, to elements; nil for a flat array
	out    strings.Builder
}

func newEmission(r *Result, c *Candidate, form Form) (*emission, error) {
	a := &r.Problem.Array
	e := &emission{form: form, result: r, c: c, name: identifier(a.Name), elem: max(1, a.ElemBytes), dims: a.Dims}
	t, ok := scaled(c.Transform, uint32(e.elem))
	if !ok {
		return nil, &FormError{form, fmt.Sprintf("%s moves parts of %d-byte elements", c.Transform, e.elem)}
	}
	e.t = t
	e.count = (c.Bytes + e.elem - 1) / e.elem
	total := e.elem
	for _, d := range e.dims {
		total *= d
	}
	if len(e.dims) < 2 || total != a.Size {
		e.dims = []int{(a.Size + e.elem - 1) / e.elem}
	}
	base, err := rowMajor(e.dims)
	if err != nil {
		return nil, &FormError{form, err.Error()}
	}
	e.shape = base
	if _, same := t.(layout.Identity); !same {
		applied, err := layout.NewApply(t, base)
		if err != nil {
			return nil, &FormError{form, err.Error()}
		}
		e.shape = applied
	}
	return e, nil
}

func rowMajor(dims []int) (layout.Strided, error) {
	sizes, strides := make([]uint32, len(dims)), make([]uint32, len(dims))
	step := uint32(1)
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] <= 0 || uint64(step)*uint64(dims[i]) >= layout.MaxOffset {
			return layout.Strided{}, fmt.Errorf("got an array of dimensions %v", dims)
		}
		sizes[i], strides[i] = uint32(dims[i]), step
		step *= uint32(dims[i])
	}
	if len(dims) == 1 {
		return layout.NewStrided(layout.Leaf(sizes[0]), layout.Leaf(1))
	}
	return layout.NewStrided(layout.Leaves(sizes...), layout.Leaves(strides...))
}

// identifier turns an array's name into one of C and Python.
func identifier(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "a" + out
	}
	return out
}

// summary says in a comment what the layout is and does.
func (e *emission) summary(comment string) {
	r := e.result
	fmt.Fprintf(&e.out, "%s %s: %s\n", comment, e.name, strings.TrimSpace(r.layoutText(e.c)))
	fmt.Fprintf(&e.out, "%s %d wavefronts instead of %d on %s, lower bound %d; %d bytes instead of %d\n", comment,
		e.c.Wavefronts, r.Before.Wavefronts, r.Problem.Arch.Name, r.Bound.Wavefronts, e.c.Bytes, r.Before.Bytes)
	if r.Problem.Array.ElemBytes <= 0 {
		fmt.Fprintf(&e.out, "%s offsets count bytes: the input names no element\n", comment)
	}
}

// coordinates names the variables of the index function.
func (e *emission) coordinates() []string {
	switch n := len(e.dims); n {
	case 1:
		return []string{"i"}
	case 2:
		return []string{"row", "col"}
	default:
		names := make([]string, n)
		for k := range names {
			names[k] = fmt.Sprintf("i%d", k)
		}
		return names
	}
}

// sum writes the offset of a coordinate under strides.
func sum(names []string, strides []uint32) string {
	terms := make([]string, len(names))
	for k, n := range names {
		terms[k] = n
		if strides[k] != 1 {
			terms[k] = fmt.Sprintf("%s * %d", n, strides[k])
		}
	}
	return strings.Join(terms, " + ")
}

// body returns the statements of the index function: an optional definition of i, and the value.
func (e *emission) body(div string) (flat, value string) {
	names := e.coordinates()
	if s, ok := e.strides(); ok {
		return "", sum(names, s)
	}
	if len(names) > 1 {
		base, err := rowMajor(e.dims)
		if err == nil {
			flat = sum(names, base.Stride().Flat())
		}
	}
	return flat, expression(e.t, "i", div)
}

// strides returns the strides of the changed array if it is still one: one number for each dimension.
func (e *emission) strides() ([]uint32, bool) {
	if _, ok := e.t.(layout.Pad); !ok {
		if _, ok := e.t.(layout.Identity); !ok {
			return nil, false
		}
	}
	s, ok := layout.ToStrided(e.shape)
	if !ok || len(s.Stride().Flat()) != len(e.dims) {
		return nil, false
	}
	return s.Stride().Flat(), true
}

func (e *emission) cuda() error {
	e.summary("//")
	names := e.coordinates()
	flat, value := e.body("/")
	fmt.Fprintf(&e.out, "constexpr int %s_elements = %d;\n", e.name, e.count)
	fmt.Fprintf(&e.out, "__host__ __device__ constexpr int %s_index(int %s) {\n", e.name, strings.Join(names, ", int "))
	if flat != "" {
		fmt.Fprintf(&e.out, "  const int i = %s;\n", flat)
	}
	fmt.Fprintf(&e.out, "  return %s;\n}\n", value)
	return nil
}

func (e *emission) python() error {
	e.summary("#")
	names := e.coordinates()
	flat, value := e.body("//")
	fmt.Fprintf(&e.out, "%s_elements = %d\n\n\ndef %s_index(%s):\n", e.name, e.count, e.name, strings.Join(names, ", "))
	if flat != "" {
		fmt.Fprintf(&e.out, "    i = %s\n", flat)
	}
	fmt.Fprintf(&e.out, "    return %s\n", value)
	return nil
}

func (e *emission) cute() error {
	if _, ok := e.t.(layout.Linear); ok {
		return &FormError{e.form, "a general linear map is no CuTe layout"}
	}
	e.summary("//")
	inner, err := rowMajor(e.dims)
	if err != nil {
		return &FormError{e.form, err.Error()}
	}
	text := e.shape.String()
	sw, isSwizzle := e.t.(layout.Swizzle)
	if !isSwizzle {
		s, ok := layout.ToStrided(e.shape)
		if !ok {
			return &FormError{e.form, fmt.Sprintf("%s is no strided layout", text)}
		}
		inner, text = s, s.String()
	}
	fmt.Fprintf(&e.out, "// %s\n", text)
	expr := fmt.Sprintf("cute::Layout<%s, %s>", static("Shape", inner.Shape()), static("Stride", inner.Stride()))
	if isSwizzle {
		if bytes, ok := e.c.Transform.(layout.Swizzle); ok {
			fmt.Fprintf(&e.out, "// where the swizzle acts on addresses (TMA, wgmma) the array must be aligned to %d bytes\n", period(bytes))
		}
		fmt.Fprintf(&e.out, "using %s_layout = decltype(cute::composition(cute::Swizzle<%d,%d,%d>{}, %s{}));\n", e.name, sw.B, sw.M, sw.S, expr)
		return nil
	}
	fmt.Fprintf(&e.out, "using %s_layout = %s;\n", e.name, expr)
	return nil
}

// period returns the bytes after which a swizzle of addresses repeats.
func period(s layout.Swizzle) uint32 {
	top := max(s.Source(), s.Target())
	return top + top&-top
}

// static writes a tuple as a type of compile-time integers.
func static(kind string, t layout.Tuple) string {
	modes := t.Modes()
	if len(modes) == 1 && modes[0].String() == t.String() {
		return "cute::Int<" + t.String() + ">"
	}
	parts := make([]string, len(modes))
	for i, m := range modes {
		parts[i] = static(kind, m)
	}
	return "cute::" + kind + "<" + strings.Join(parts, ", ") + ">"
}

func (e *emission) triton() error {
	text := ""
	if s, ok := layout.ToShared(e.shape); ok {
		text = s.String()
	} else if s, ok := layout.ToPadded(e.shape); ok {
		text = s.String()
	} else if s, ok := layout.ToSharedLinear(e.shape); ok {
		text = s.String()
	} else {
		return &FormError{e.form, fmt.Sprintf("no shared encoding equals %s", e.shape)}
	}
	e.summary("//")
	fmt.Fprintf(&e.out, "%s\n", text)
	return nil
}
