package pad

import (
	"fmt"
	"strings"
)

// A DType is an element type.
type DType struct {
	Name  string
	Bytes int // of one element
}

// dtypes lists the element types by size: CUDA's scalar and vector types, and the names that frameworks use for them.
var dtypes = []struct {
	bytes int
	names string
}{
	{1, "i8 u8 s8 int8 uint8 int8_t uint8_t char schar uchar bool e4m3 e5m2 fp8 fp8e4m3 fp8e5m2 fp8_e4m3 fp8_e5m2 " +
		"float8_e4m3fn float8_e5m2 __nv_fp8_e4m3 __nv_fp8_e5m2 e8m0 __nv_fp8_e8m0"},
	{2, "f16 fp16 float16 half __half bf16 bfloat16 __nv_bfloat16 i16 u16 s16 int16 uint16 int16_t uint16_t short ushort " +
		"char2 uchar2"},
	{4, "f32 fp32 float32 float tf32 i32 u32 s32 int32 uint32 int32_t uint32_t int uint half2 __half2 bf162 " +
		"__nv_bfloat162 short2 ushort2 char4 uchar4"},
	{8, "f64 fp64 float64 double i64 u64 s64 int64 uint64 int64_t uint64_t longlong ulonglong size_t c64 complex64 float2 " +
		"int2 uint2 short4 ushort4 cuComplex"},
	{12, "float3 int3 uint3"},
	{16, "c128 complex128 float4 int4 uint4 double2 longlong2 ulonglong2 cuDoubleComplex i128 u128 __int128"},
	{24, "double3 longlong3"},
	{32, "double4 longlong4"},
}

// packed lists types of less than a byte, which have no address of their own.
const packed = " i4 u4 s4 int4b fp4 e2m1 fp4e2m1 __nv_fp4_e2m1 i1 u1 b1 i2 u2 e2m3 e3m2 fp6 "

// LookupDType returns the element type with the given name, such as "f16", "half" or "float4".
func LookupDType(name string) (DType, error) {
	for _, size := range dtypes {
		for known := range strings.FieldsSeq(size.names) {
			if known == name {
				return DType{name, size.bytes}, nil
			}
		}
	}
	if name != "" && strings.Contains(packed, " "+name+" ") {
		return DType{}, fmt.Errorf("dtype: got %s, whose elements of less than a byte have no address; want u8 with the chunk in bytes", name)
	}
	return DType{}, fmt.Errorf("dtype: got %q, want one of f16 bf16 f32 f64 i8 u8 fp8e4m3 fp8e5m2 i16 i32 i64, "+
		"a C++ name such as half, float or double, or a vector such as float4", name)
}

// cudaNames spells in CUDA C++ the names that frameworks use.
var cudaNames = map[string]string{
	"f16": "half", "fp16": "half", "float16": "half",
	"bf16": "__nv_bfloat16", "bfloat16": "__nv_bfloat16",
	"f32": "float", "fp32": "float", "float32": "float", "tf32": "float",
	"f64": "double", "fp64": "double", "float64": "double",
	"e4m3": "__nv_fp8_e4m3", "fp8": "__nv_fp8_e4m3", "fp8e4m3": "__nv_fp8_e4m3", "fp8_e4m3": "__nv_fp8_e4m3",
	"e5m2": "__nv_fp8_e5m2", "fp8e5m2": "__nv_fp8_e5m2", "fp8_e5m2": "__nv_fp8_e5m2",
	"i8": "signed char", "s8": "signed char", "int8": "signed char", "u8": "unsigned char", "uint8": "unsigned char",
	"i16": "short", "s16": "short", "int16": "short", "u16": "unsigned short", "uint16": "unsigned short",
	"i32": "int", "s32": "int", "int32": "int", "u32": "unsigned int", "uint32": "unsigned int",
	"i64": "long long", "s64": "long long", "int64": "long long", "u64": "unsigned long long", "uint64": "unsigned long long",
}

// CUDA returns the type's name in CUDA C++.
func (d DType) CUDA() string {
	if name, ok := cudaNames[d.Name]; ok {
		return name
	}
	return d.Name
}

// DTypeNames returns every name that LookupDType knows, smallest elements first.
func DTypeNames() []string {
	var names []string
	for _, size := range dtypes {
		names = append(names, strings.Fields(size.names)...)
	}
	return names
}
