package sketch

import (
	"fmt"
	"strings"
)

type typeKind uint8

const (
	kindVoid typeKind = iota
	kindBool
	kindInt
	kindFloat // any floating-point type: values are not followed
	kindStruct
	kindPointer
	kindArray
	kindOpaque // a class of some library: values are not followed, size unknown
)

// A ctype is a CUDA C++ type. Scalar types are unique; others are compared by same.
type ctype struct {
	kind   typeKind
	name   string
	size   int // bytes
	align  int
	signed bool
	elem   *ctype // of a pointer or array
	n      int    // length of an array; -1 when open
	fields []field
	vector bool // a built-in vector type such as float4
	union  bool // members overlap: their values are not followed
	decl   *structDecl
	env    *scope // of a struct: its template arguments, types and constants
}

type field struct {
	name string
	off  int
	ty   *ctype
}

func scalar(kind typeKind, name string, size int, signed bool) *ctype {
	return &ctype{kind: kind, name: name, size: size, align: size, signed: signed}
}

// The scalar types. long has 8 bytes, as on Linux.
var (
	typeVoid      = scalar(kindVoid, "void", 1, false)
	typeBool      = scalar(kindBool, "bool", 1, false)
	typeChar      = scalar(kindInt, "char", 1, true)
	typeUchar     = scalar(kindInt, "unsigned char", 1, false)
	typeShort     = scalar(kindInt, "short", 2, true)
	typeUshort    = scalar(kindInt, "unsigned short", 2, false)
	typeInt       = scalar(kindInt, "int", 4, true)
	typeUint      = scalar(kindInt, "unsigned int", 4, false)
	typeLongLong  = scalar(kindInt, "long long", 8, true)
	typeULongLong = scalar(kindInt, "unsigned long long", 8, false)
	typeFloat     = scalar(kindFloat, "float", 4, true)
	typeDouble    = scalar(kindFloat, "double", 8, true)
	typeHalf      = scalar(kindFloat, "half", 2, true)
	typeBfloat    = scalar(kindFloat, "nv_bfloat16", 2, true)
	typeFP8       = scalar(kindFloat, "fp8", 1, true)
	typeOpaque    = &ctype{kind: kindOpaque, name: "a library type", size: 1, align: 1}
)

// builtinTypes maps the names of scalar and vector types to their types. It is filled once and then only read.
var builtinTypes = func() map[string]*ctype {
	m := map[string]*ctype{
		"void": typeVoid, "bool": typeBool, "char": typeChar, "short": typeShort, "int": typeInt,
		"long": typeLongLong, "float": typeFloat, "double": typeDouble, "wchar_t": typeInt,
		"int8_t": typeChar, "uint8_t": typeUchar, "int16_t": typeShort, "uint16_t": typeUshort,
		"int32_t": typeInt, "uint32_t": typeUint, "int64_t": typeLongLong, "uint64_t": typeULongLong,
		"size_t": typeULongLong, "ssize_t": typeLongLong, "ptrdiff_t": typeLongLong, "intptr_t": typeLongLong,
		"clock_t": typeLongLong, "cudaTextureObject_t": typeULongLong, "cudaSurfaceObject_t": typeULongLong,
		"uintptr_t": typeULongLong, "uchar": typeUchar, "ushort": typeUshort, "uint": typeUint, "ulong": typeULongLong,
		"half": typeHalf, "__half": typeHalf, "half_t": typeHalf, "float16_t": typeHalf, "float16": typeHalf,
		"__nv_bfloat16": typeBfloat, "nv_bfloat16": typeBfloat, "bfloat16_t": typeBfloat, "bfloat16": typeBfloat,
		"__bfloat16": typeBfloat, "__nv_fp8_e4m3": typeFP8, "__nv_fp8_e5m2": typeFP8, "__nv_fp8_e8m0": typeFP8,
		"__nv_fp8_storage_t": typeUchar, "fp8_e4m3": typeFP8, "fp8_e5m2": typeFP8, "float_e4m3_t": typeFP8,
		"float_e5m2_t": typeFP8, "tfloat32_t": typeFloat, "nullptr_t": {kind: kindPointer, name: "nullptr_t", size: 8,
			align: 8, elem: typeVoid},
	}
	for _, v := range []struct {
		name    string
		elem    *ctype
		longest int
	}{
		{"char", typeChar, 4}, {"uchar", typeUchar, 4}, {"short", typeShort, 4}, {"ushort", typeUshort, 4},
		{"int", typeInt, 4}, {"uint", typeUint, 4}, {"long", typeLongLong, 4}, {"ulong", typeULongLong, 4},
		{"longlong", typeLongLong, 4}, {"ulonglong", typeULongLong, 4}, {"float", typeFloat, 4},
		{"double", typeDouble, 4},
	} {
		for n := 1; n <= v.longest; n++ {
			name := fmt.Sprintf("%s%d", v.name, n)
			m[name] = vectorOf(name, v.elem, n, vectorAlign(v.elem.size, n))
		}
	}
	// double4 and its like exist with an alignment of 16 and, since CUDA 13, of 32 bytes.
	for _, base := range []string{"double", "longlong", "ulonglong", "long", "ulong"} {
		m[base+"4_16a"] = m[base+"4"]
		m[base+"4_32a"] = vectorOf(base+"4_32a", m[base+"4"].fields[0].ty, 4, 32)
	}
	for name, elem := range map[string]*ctype{
		"half2": typeHalf, "__half2": typeHalf, "__nv_bfloat162": typeBfloat, "nv_bfloat162": typeBfloat,
		"bfloat162": typeBfloat,
	} {
		m[name] = vectorOf(name, elem, 2, 4)
	}
	for _, name := range libraryTypes {
		m[name] = typeOpaque
	}
	m["__nv_fp8x2_e4m3"] = vectorOf("__nv_fp8x2_e4m3", typeFP8, 2, 2)
	m["__nv_fp8x2_e5m2"] = vectorOf("__nv_fp8x2_e5m2", typeFP8, 2, 2)
	m["__nv_fp8x4_e4m3"] = vectorOf("__nv_fp8x4_e4m3", typeFP8, 4, 4)
	m["__nv_fp8x4_e5m2"] = vectorOf("__nv_fp8x4_e5m2", typeFP8, 4, 4)
	m["dim3"] = vectorOf("dim3", typeUint, 3, 4)
	m["cuComplex"] = m["float2"]
	m["cuFloatComplex"] = m["float2"]
	m["cuDoubleComplex"] = m["double2"]
	return m
}()

// libraryTypes are types of headers that kernels use without a namespace. Their values are not followed.
var libraryTypes = strings.Fields(`thread_block thread_group grid_group cluster_group multi_grid_group thread_block_tile
	coalesced_group curandState curandState_t curandStateXORWOW curandStateXORWOW_t curandStatePhilox4_32_10_t
	curandStateMRG32k3a curandStateMtgp32 curandDirectionVectors32_t cudaArray_t CUtensorMap FILE`)

// vectorAlign returns the alignment of a vector of n elements (CUDA C++ Programming Guide, "Built-in Vector Types"): the
// whole vector for 1, 2 and 4 elements, up to 16 bytes, and one element for 3.
func vectorAlign(elem, n int) int {
	if n == 3 {
		return elem
	}
	return min(16, elem*n)
}

func vectorOf(name string, elem *ctype, n, align int) *ctype {
	t := &ctype{kind: kindStruct, name: name, size: elem.size * n, align: align, vector: true}
	for i := range n {
		t.fields = append(t.fields, field{name: "xyzw"[i : i+1], off: i * elem.size, ty: elem})
	}
	return t
}

func pointerTo(elem *ctype) *ctype {
	return &ctype{kind: kindPointer, name: elem.name + "*", size: 8, align: 8, elem: elem}
}

// typeBytes bounds the size of a type: no GPU has more memory than that.
const typeBytes = 1 << 40

func arrayOf(elem *ctype, n int) *ctype {
	t := &ctype{kind: kindArray, elem: elem, n: n, align: elem.align}
	t.size = elem.size * max(n, 0)
	base, dims := elem, "[]"
	if n >= 0 {
		dims = fmt.Sprintf("[%d]", n)
	}
	for base.kind == kindArray {
		dims += fmt.Sprintf("[%d]", base.n)
		base = base.elem
	}
	t.name = base.name + dims
	return t
}

func (t *ctype) isInteger() bool   { return t.kind == kindInt || t.kind == kindBool }
func (t *ctype) isScalar() bool    { return t.isInteger() || t.kind == kindFloat || t.kind == kindPointer }
func (t *ctype) isAggregate() bool { return t.kind == kindStruct || t.kind == kindArray }

// wideUnsigned reports whether values of the type are kept as the bits of a 64-bit unsigned integer.
func (t *ctype) wideUnsigned() bool { return t.size == 8 && !t.signed }

// wrap brings a value into the range of the type, as a conversion to it does.
func (t *ctype) wrap(v int64) int64 {
	switch {
	case t.kind == kindBool:
		return truth(v != 0)
	case t.size >= 8:
		return v
	case t.size == 4 && t.signed:
		return int64(int32(v))
	case t.size == 4:
		return int64(uint32(v))
	case t.size == 2 && t.signed:
		return int64(int16(v))
	case t.size == 2:
		return int64(uint16(v))
	case t.signed:
		return int64(int8(v))
	}
	return int64(uint8(v))
}

// same reports whether two types are the same type.
func (t *ctype) same(o *ctype) bool {
	if t == o {
		return true
	}
	if t.kind != o.kind || t.size != o.size || t.n != o.n {
		return false
	}
	if t.elem != nil && o.elem != nil {
		return t.elem.same(o.elem)
	}
	return t.name == o.name
}

// promote applies the integer promotions.
func promote(t *ctype) *ctype {
	if t.isInteger() && t.size < 4 {
		return typeInt
	}
	return t
}

// arithmetic returns the common type of two arithmetic operands (C11 6.3.1.8).
func arithmetic(a, b *ctype) *ctype {
	switch {
	case a.kind == kindFloat && b.kind == kindFloat:
		if b.size > a.size {
			return b
		}
		return a
	case a.kind == kindFloat:
		return a
	case b.kind == kindFloat:
		return b
	}
	a, b = promote(a), promote(b)
	switch {
	case a.size > b.size:
		return a
	case b.size > a.size:
		return b
	case !a.signed:
		return a
	}
	return b
}

func (t *ctype) field(name string) *field {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i]
		}
	}
	return nil
}

// tracked reports whether some part of a value of the type is followed.
func (t *ctype) tracked() bool {
	switch t.kind {
	case kindInt, kindBool, kindPointer:
		return true
	case kindArray:
		return t.elem.tracked()
	case kindStruct:
		for _, f := range t.fields {
			if !t.union && f.ty.tracked() {
				return true
			}
		}
	}
	return false
}

// pieces returns the width of the accesses that a value of the type is moved with, and how many there are: the widest
// that the alignment allows, at most 16 bytes, as a compiler does.
func (t *ctype) pieces() (width, count int) {
	width = 1
	for width < 16 && width*2 <= t.align && t.size%(width*2) == 0 {
		width *= 2
	}
	return width, (t.size + width - 1) / width
}

// unqualified drops the namespaces of a name.
func unqualified(name string) string {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}
