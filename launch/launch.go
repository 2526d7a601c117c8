// Package launch says how a kernel of a binary is launched: shape, dynamic shared memory, and arguments, given on the
// command line, in a file, or read from what other tools leave behind.
//
//	arg, err := launch.ParseArg("f32[1048576]:random")
//	value, err := arg.Value() // an emu.Arg that owns a fresh buffer
//
// An argument is a scalar (i32=128), a buffer with contents (f32[1024]:random, i32[64]:file=x.npy), a pointer to unknown
// data (ptr) or null. Its position is its place in the list, or is written before it: 2:i32=128.
//
// Limits: structs passed by value are given as bytes (bytes=00ff...). Names of parameters are not in linked code.
package launch

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"shmoo/emu"
	"shmoo/internal/half"
)

// A Launch is what a kernel is launched with. The zero value of a field means that it is not given.
type Launch struct {
	Kernel        string
	Grid, Block   [3]int
	DynamicShared int // bytes
	Args          []Arg
}

// Values returns fresh argument values by ordinal for a kernel of count parameters. Parameters without an argument are
// unknown.
func (l *Launch) Values(count int) ([]emu.Arg, error) {
	values := make([]emu.Arg, count)
	for i := range l.Args {
		a := &l.Args[i]
		if a.Index >= count {
			return nil, fmt.Errorf("argument %d (%s): the kernel has %d parameters", a.Index, a.text, count)
		}
		v, err := a.Value()
		if err != nil {
			return nil, err
		}
		values[a.Index] = v
	}
	return values, nil
}

// Add parses an argument and adds it behind the last one, or at the position that it names.
func (l *Launch) Add(text string) error {
	a, err := ParseArg(text)
	if err != nil {
		return err
	}
	if a.Index < 0 {
		a.Index = 0
		if n := len(l.Args); n > 0 {
			a.Index = l.Args[n-1].Index + 1
		}
	}
	for i := range l.Args {
		if l.Args[i].Index == a.Index {
			return fmt.Errorf("argument %q: position %d is given already, as %q", text, a.Index, l.Args[i].text)
		}
	}
	l.Args = append(l.Args, *a)
	return nil
}

// An Arg is the recipe of an argument.
type Arg struct {
	Index int // ordinal; -1 when the text does not say
	text  string
	make  func() (emu.Arg, error)
	raw   func() ([]byte, error) // nil for a pointer to unknown data
	size  int                    // of a buffer in bytes; 0 for a scalar
}

// String returns the text that was parsed.
func (a *Arg) String() string { return a.text }

// Size returns the bytes of a buffer, 0 for what is passed by value.
func (a *Arg) Size() int { return a.size }

// Raw makes the bytes of the argument: a fresh buffer's contents, or a value in little endian. A pointer to unknown data has
// none: that is an error.
func (a *Arg) Raw() ([]byte, error) {
	if a.raw == nil {
		return nil, fmt.Errorf("argument %q: got no contents, want a buffer such as f32[1024]:random", a.text)
	}
	b, err := a.raw()
	if err != nil {
		return nil, fmt.Errorf("argument %q: %w", a.text, err)
	}
	return b, nil
}

// Value makes the argument. Every call makes a fresh buffer, since kernels write into it.
func (a *Arg) Value() (emu.Arg, error) {
	v, err := a.make()
	if err != nil {
		return v, fmt.Errorf("argument %q: %w", a.text, err)
	}
	return v, nil
}

// MaxBuffer bounds the bytes of one buffer.
const MaxBuffer = 1 << 30

const wantArg = "want TYPE=VALUE, TYPE[COUNT]:FILL, bytes=HEX, ptr or null, with an optional position in front such as 2:i32=128"

// ParseArg parses an argument.
func ParseArg(text string) (*Arg, error) {
	a := &Arg{Index: -1, text: text}
	body := text
	if position, rest, ok := strings.Cut(text, ":"); ok {
		if n, err := strconv.Atoi(position); err == nil {
			if n < 0 {
				return nil, fmt.Errorf("argument %q: position %d, want 0 or more", text, n)
			}
			a.Index, body = n, rest
		}
	}
	var err error
	switch open := strings.IndexByte(body, '['); {
	case body == "ptr":
		a.make = func() (emu.Arg, error) { return emu.Pointer(), nil }
	case body == "null":
		a.make = func() (emu.Arg, error) { return emu.Null(), nil }
		a.raw = func() ([]byte, error) { return make([]byte, 8), nil }
	case open >= 0:
		a.raw, a.size, err = parseBuffer(body, open)
		a.make = made(a.raw, emu.Buffer)
	default:
		a.raw, err = parseScalar(body)
		a.make = made(a.raw, emu.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %q: %w", text, err)
	}
	return a, nil
}

// made returns a function that wraps the bytes of another.
func made(raw func() ([]byte, error), wrap func([]byte) emu.Arg) func() (emu.Arg, error) {
	return func() (emu.Arg, error) {
		b, err := raw()
		return wrap(b), err
	}
}

func parseScalar(body string) (func() ([]byte, error), error) {
	name, value, ok := strings.Cut(body, "=")
	if !ok {
		return nil, fmt.Errorf("got neither = nor [, %s", wantArg)
	}
	if name == "bytes" {
		b, err := hex.DecodeString(value)
		if err != nil {
			return nil, fmt.Errorf("%q is not hexadecimal", value)
		}
		return func() ([]byte, error) { return b, nil }, nil
	}
	t, err := lookupType(name)
	if err != nil {
		return nil, err
	}
	b := make([]byte, t.bytes)
	if err := t.parse(b, value); err != nil {
		return nil, err
	}
	return func() ([]byte, error) { return b, nil }, nil
}

// A fill writes the contents of a buffer of elements of type t.
type fill func(t *elemType, b []byte) error

func parseBuffer(body string, open int) (raw func() ([]byte, error), size int, err error) {
	t, err := lookupType(body[:open])
	if err != nil {
		return nil, 0, err
	}
	inside, how, ok := strings.Cut(body[open+1:], "]")
	if !ok {
		return nil, 0, fmt.Errorf("[ is not closed, %s", wantArg)
	}
	count, err := strconv.Atoi(inside)
	if err != nil || count < 1 || count > MaxBuffer/t.bytes {
		return nil, 0, fmt.Errorf("%q elements, want 1 to %d", inside, MaxBuffer/t.bytes)
	}
	write, err := parseFill(how, count)
	if err != nil {
		return nil, 0, err
	}
	size = count * t.bytes
	return func() ([]byte, error) {
		b := make([]byte, size)
		return b, write(t, b)
	}, size, nil
}

const wantFill = "want :zero, :random, :iota, :lcg, :value=V or :file=PATH"

func parseFill(how string, count int) (fill, error) {
	name, value, _ := strings.Cut(strings.TrimPrefix(how, ":"), "=")
	if !strings.HasPrefix(how, ":") {
		return nil, fmt.Errorf("got %q after ], %s", how, wantFill)
	}
	switch name {
	case "zero":
		return func(*elemType, []byte) error { return nil }, nil
	case "random":
		return fillRandom, nil
	case "iota":
		return func(t *elemType, b []byte) error {
			return each(t, b, func(i int, e []byte) error { return t.parse(e, strconv.Itoa(i)) })
		}, nil
	case "lcg":
		return fillLCG, nil
	case "value":
		return func(t *elemType, b []byte) error {
			one := make([]byte, t.bytes)
			if err := t.parse(one, value); err != nil {
				return err
			}
			return each(t, b, func(_ int, e []byte) error { copy(e, one); return nil })
		}, nil
	case "file":
		return func(t *elemType, b []byte) error { return readInto(value, t, b) }, nil
	}
	return nil, fmt.Errorf("unknown fill %q, %s", name, wantFill)
}

func each(t *elemType, b []byte, write func(i int, e []byte) error) error {
	for i := 0; i*t.bytes < len(b); i++ {
		if err := write(i, b[i*t.bytes:(i+1)*t.bytes]); err != nil {
			return err
		}
	}
	return nil
}

// fillRandom writes the same numbers on every run: floats from 0 to 1, integers over their whole range.
func fillRandom(t *elemType, b []byte) error {
	random := rand.New(rand.NewPCG(1, 2))
	return each(t, b, func(_ int, e []byte) error {
		if t.float {
			t.putFloat(e, random.Float64())
			return nil
		}
		for i := range e {
			e[i] = byte(random.Uint32())
		}
		return nil
	})
}

// fillLCG writes the 32-bit words x >> 8 of x = x*1664525 + 1013904223 from x = 1, whatever the type: contents that any
// language writes with a line of code, for recordings on a device.
func fillLCG(_ *elemType, b []byte) error {
	x := uint32(1)
	for i := 0; i+4 <= len(b); i += 4 {
		x = x*1664525 + 1013904223
		v := x >> 8
		b[i], b[i+1], b[i+2], b[i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	return nil
}

// An elemType is a type of scalars and of elements.
type elemType struct {
	names string
	bytes int
	float bool
}

var elemTypes = []elemType{
	{"i8 s8 u8 char bool", 1, false},
	{"i16 s16 u16 short", 2, false},
	{"i32 s32 u32 int", 4, false},
	{"i64 s64 u64 long", 8, false},
	{"f16 half", 2, true},
	{"bf16", 2, true},
	{"f32 float", 4, true},
	{"f64 double", 8, true},
}

func lookupType(name string) (*elemType, error) {
	for i := range elemTypes {
		for known := range strings.FieldsSeq(elemTypes[i].names) {
			if known == name {
				return &elemTypes[i], nil
			}
		}
	}
	return nil, fmt.Errorf("unknown type %q, want i8 to i64, f16, bf16, f32 or f64", name)
}

// parse writes the value that text gives to b, little endian.
func (t *elemType) parse(b []byte, text string) error {
	if !t.float {
		v, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			u, uerr := strconv.ParseUint(text, 0, 64)
			if uerr != nil {
				return fmt.Errorf("%q is not an integer", text)
			}
			v = int64(u)
		}
		if bits := uint(t.bytes * 8); bits < 64 && (v >= 1<<bits || v < -1<<(bits-1)) {
			return fmt.Errorf("%s does not fit %d bits", text, bits)
		}
		put(b, uint64(v))
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	t.putFloat(b, v)
	return nil
}

// putFloat writes v, rounded to the type.
func (t *elemType) putFloat(b []byte, v float64) {
	switch t.names {
	case "f16 half":
		put(b, uint64(half.To(v)))
	case "bf16":
		bits := math.Float32bits(float32(v))
		put(b, uint64((bits+0x7fff+bits>>16&1)>>16))
	case "f32 float":
		put(b, uint64(math.Float32bits(float32(v))))
	default:
		put(b, math.Float64bits(v))
	}
}

func put(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
