package sketch

import (
	"math"
	"math/bits"
	"strings"

	"shmoo/diag"
)

type diagPos = diag.Pos

// builtin compiles a call of a function that CUDA provides.
type builtin func(c *compiler, x *call, targs []targ) *cexpr

var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{}
	nothing := func(c *compiler, x *call, _ []targ) *cexpr {
		r := c.unknown(typeVoid, "nothing", c.values(x.args)...)
		return r
	}
	for _, name := range strings.Fields(`__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system
		__pipeline_commit __pipeline_wait_prior __nanosleep printf assert __assume __builtin_assume __trap sync wait
		__prof_trigger cudaGridDependencySynchronize cudaTriggerProgrammaticLaunchCompletion __builtin_unreachable
		pipeline_commit pipeline_wait_prior cp_async_fence griddepcontrol_wait __stcs __stcg __stwt __stwb`) {
		builtins[name] = nothing
	}
	for names, ty := range map[string]*ctype{
		`sqrtf rsqrtf expf exp2f logf log2f log10f sinf cosf tanf tanhf powf fabsf fmaxf fminf fmaf ceilf floorf roundf
		 truncf fmodf erff __expf __logf __log2f __sinf __cosf __powf __fdividef __frcp_rn __fsqrt_rn __frsqrt_rn
		 __fmul_rn __fadd_rn __fmaf_rn __saturatef rintf atanf atan2f hypotf copysignf cbrtf sincosf exp10f
		 __half2float __bfloat162float __int_as_float __uint_as_float __int2float_rn __uint2float_rn
		 __low2float __high2float half2float rsqrt __tanhf nanf logf1p log1pf expm1f __ldcs_f`: typeFloat,
		`sqrt exp exp2 log log2 pow fabs fmax fmin fma ceil floor round trunc fmod sin cos tan tanh erf rint
		 __int2double_rn __longlong_as_double __hiloint2double __dadd_rn __dmul_rn __fma_rn`: typeDouble,
		`__float2half __float2half_rn __float2half_rz __int2half_rn __hadd __hsub __hmul __hfma __hdiv __hmax __hmin
		 __hneg __habs hexp hlog hsqrt hrsqrt __ushort_as_half __short_as_half __low2half __high2half __double2half
		 __hmax_nan __hmin_nan htanh __hadd_sat`: typeHalf,
		`__float2bfloat16 __float2bfloat16_rn __double2bfloat16`: typeBfloat,
	} {
		for _, name := range strings.Fields(names) {
			builtins[name] = mathFunction(ty)
		}
	}
	for name, ty := range map[string]*ctype{
		"__float2int_rn": typeInt, "__float2int_rz": typeInt, "__float2int_rd": typeInt, "__float2int_ru": typeInt,
		"__float2uint_rn": typeUint, "__float2uint_rz": typeUint, "__float_as_int": typeInt, "__float_as_uint": typeUint,
		"__half_as_ushort": typeUshort, "__half_as_short": typeShort, "__double_as_longlong": typeLongLong,
		"__match_any_sync": typeUint, "__reduce_add_sync": typeInt, "__reduce_max_sync": typeInt,
		"__reduce_min_sync": typeInt, "__vadd2": typeUint, "__vadd4": typeUint, "__dp4a": typeInt, "__dp2a_lo": typeInt,
		"clock": typeLongLong, "clock64": typeLongLong, "globaltimer": typeULongLong, "__double2int_rn": typeInt,
		"__hgt": typeBool, "__hlt": typeBool, "__hge": typeBool, "__hle": typeBool, "__heq": typeBool, "isnan": typeBool,
		"isinf": typeBool, "isfinite": typeBool, "__isnanf": typeBool, "lrintf": typeLongLong, "__vote": typeInt,
		"__nv_cvt_float_to_fp8": typeUchar, "__nv_cvt_halfraw_to_fp8": typeUchar, "__nv_cvt_float2_to_fp8x2": typeUshort,
		"__nv_cvt_fp8_to_halfraw": typeHalf, "__nv_cvt_fp8x2_to_halfraw2": typeUint,
		"__byte_perm": typeUint, "__funnelshift_l": typeUint, "__funnelshift_r": typeUint, "__nvvm_get_smem_pointer": typeUint,
	} {
		builtins[name] = valueOf(ty)
	}
	for names, ty := range map[string]string{
		`__float2half2_rn __floats2half2_rn __halves2half2 __half2half2 __hadd2 __hsub2 __hmul2 __hfma2 __hmax2 __hmin2
		 __float22half2_rn h2exp h2exp2 __h2div __hneg2 __lows2half2 __highs2half2 make_half2`: "half2",
		`__floats2bfloat162_rn __float22bfloat162_rn __float2bfloat162_rn __halves2bfloat162`: "__nv_bfloat162",
		`__half22float2 __bfloat1622float2 `:                                                  "float2",
	} {
		for _, name := range strings.Fields(names) {
			builtins[name] = valueOf(builtinTypes[ty])
		}
	}
	for name, ty := range builtinTypes {
		if ty.vector {
			builtins["make_"+name] = func(c *compiler, x *call, _ []targ) *cexpr {
				return c.constructList(ty, &initList{x.span, x.args}, x.span)
			}
		}
	}
	for _, name := range strings.Fields(`tex1D tex1Dfetch tex2D tex2DLod tex3D texCubemap tex1DLayered tex2DLayered tex2Dgather
		surf1Dread surf2Dread surf3Dread surf1Dwrite surf2Dwrite surf3Dwrite curand curand_init curand_uniform
		curand_normal curand_uniform4 curand_normal2 curand_uniform_double curand_normal_double curand_poisson`) {
		builtins[name] = valueOf(typeOpaque)
	}
	for _, name := range strings.Fields("__ldg __ldca __ldcg __ldcs __ldlu __ldcv") {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 1)
			return c.load(c.deref(c.value(x.args[0]), x.span))
		}
	}
	for name, op := range map[string]opcode{"min": opMin, "max": opMax, "umin": opMin, "umax": opMax} {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr { return c.minMax(op, x) }
	}
	for name, f := range map[string]func(int64) int64{
		"__popc":   func(v int64) int64 { return int64(bits.OnesCount32(uint32(v))) },
		"__popcll": func(v int64) int64 { return int64(bits.OnesCount64(uint64(v))) },
		"__clz":    func(v int64) int64 { return int64(bits.LeadingZeros32(uint32(v))) },
		"__clzll":  func(v int64) int64 { return int64(bits.LeadingZeros64(uint64(v))) },
		"__ffs": func(v int64) int64 {
			if uint32(v) == 0 {
				return 0
			}
			return int64(bits.TrailingZeros32(uint32(v))) + 1
		},
		"__brev": func(v int64) int64 { return int64(bits.Reverse32(uint32(v))) },
		"abs": func(v int64) int64 {
			if v < 0 {
				return -v
			}
			return v
		},
	} {
		wide := strings.HasSuffix(name, "ll")
		ty := typeInt
		if name == "__brev" {
			ty = typeUint
		}
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 1)
			e := c.value(x.args[0])
			if e.ty.kind == kindFloat {
				return c.unknown(e.ty, e.why, e)
			}
			arg := typeInt
			if wide {
				arg = typeLongLong
			}
			return c.mapLanes(ty, c.convert(e, arg), f)
		}
	}
	for name, hi := range map[string]bool{"__mul24": false, "__umul24": false, "__mulhi": true, "__umulhi": true} {
		ty := typeInt
		if name[2] == 'u' {
			ty = typeUint
		}
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 2)
			a, b := c.convert(c.value(x.args[0]), ty), c.convert(c.value(x.args[1]), ty)
			if !hi {
				return c.arith(opMul, ty, ty, a, b, x.span)
			}
			p := c.arith(opMul, typeLongLong, typeLongLong, a, b, x.span)
			return c.convert(c.arith(opShr, typeLongLong, typeLongLong, p, constInt(typeInt, 32), x.span), ty)
		}
	}
	for _, name := range strings.Fields("__cvta_generic_to_shared cast_smem_ptr_to_uint __nv_cvta_generic_to_shared_impl") {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 1)
			ty := typeULongLong
			if name == "cast_smem_ptr_to_uint" {
				ty = typeUint
			}
			return c.sharedOffset(c.value(x.args[0]), ty)
		}
	}
	builtins["__cvta_shared_to_generic"] = func(c *compiler, x *call, _ []targ) *cexpr {
		c.wantArgs(x, 1)
		e := c.convert(c.value(x.args[0]), typeULongLong)
		r := c.arith(opAdd, typeULongLong, typeULongLong, e, constInt(typeULongLong, sharedBase), x.span)
		r.ty = pointerTo(typeVoid)
		return r
	}
	builtins["__isShared"] = valueOf(typeBool)
	for _, name := range strings.Fields(`memcpy memset reduce inclusive_scan exclusive_scan invoke_one coalesced_threads
		labeled_partition binary_partition this_cluster init`) {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr { return c.opaqueCall("function "+name, x) }
	}
	initShuffles()
	initAtomics()
	initCopies()
}

func (c *compiler) wantArgs(x *call, n int) {
	if len(x.args) < n {
		c.fail(x.span, "sketch/type", "got %d arguments, want %d", len(x.args), n)
	}
}

// valueOf compiles a function whose result is not followed.
func valueOf(ty *ctype) builtin {
	return func(c *compiler, x *call, _ []targ) *cexpr {
		name := "a function"
		if id, ok := x.fn.(*ident); ok {
			name = id.name
		}
		return c.unknownOf(ty, "the result of "+name, x.span, c.values(x.args)...)
	}
}

// constantMath are the functions that constants go through, as in constexpr int n = ceil(a / 2.0).
var constantMath = map[string]func(float64) float64{
	"ceil": math.Ceil, "ceilf": math.Ceil, "floor": math.Floor, "floorf": math.Floor, "log2": math.Log2,
	"log2f": math.Log2, "sqrt": math.Sqrt, "sqrtf": math.Sqrt, "round": math.Round, "roundf": math.Round,
	"exp2": math.Exp2, "exp2f": math.Exp2, "fabs": math.Abs, "fabsf": math.Abs,
}

func mathFunction(ty *ctype) builtin {
	return func(c *compiler, x *call, _ []targ) *cexpr {
		args := c.values(x.args)
		id, _ := x.fn.(*ident)
		if f := constantMath[unqualified(id.name)]; f != nil && len(args) == 1 && args[0].konst {
			return &cexpr{ty: ty, konst: true, fval: f(c.convert(args[0], typeDouble).fval)}
		}
		for i, a := range args {
			if !a.ty.isScalar() {
				args[i] = &cexpr{ty: ty, fn: a.fn, effects: a.effects}
			}
		}
		return c.unknown(ty, "", args...)
	}
}

// mapLanes applies a function to every lane.
func (c *compiler) mapLanes(ty *ctype, e *cexpr, f func(int64) int64) *cexpr {
	if e.konst {
		return constInt(ty, f(e.val))
	}
	if e.why != "" {
		return c.unknown(ty, e.why, e)
	}
	fn, out := c.eval(e), c.newVec()
	return &cexpr{ty: ty, effects: e.effects, from: e.from, fn: func(m *machine, mask laneMask) *vec {
		a := fn(m, mask)
		out.uni, out.unk, out.why = a.uni, a.unk, a.why
		if a.uni {
			out.v[0] = ty.wrap(f(a.v[0]))
			return out
		}
		for i, v := range a.v {
			out.v[i] = ty.wrap(f(v))
		}
		return out
	}}
}

func (c *compiler) minMax(op opcode, x *call) *cexpr {
	c.wantArgs(x, 2)
	a, b := c.value(x.args[0]), c.value(x.args[1])
	if !a.ty.isInteger() || !b.ty.isInteger() {
		return c.unknown(arithmetic(a.ty, b.ty), "", a, b)
	}
	ty := arithmetic(a.ty, b.ty)
	return c.arith(op, ty, ty, c.convert(a, ty), c.convert(b, ty), x.span)
}

// sharedOffset turns a pointer into its offset in shared memory.
func (c *compiler) sharedOffset(p *cexpr, ty *ctype) *cexpr {
	if p.ty.kind != kindPointer {
		return c.convert(p, ty)
	}
	if p.pt != nil && p.pt.shared != nil {
		addr := c.address(p.pt)
		return &cexpr{ty: ty, fn: c.then(p.fn, addr), effects: p.effects, from: p.from}
	}
	r := c.mapLanes(ty, &cexpr{ty: p.ty, fn: c.eval(p), effects: p.effects, from: p.from},
		func(v int64) int64 { return int64(uint32(v)) })
	r.from = p.from
	return r
}

func effectsOf(e *cexpr) evalFn {
	if e.effects {
		return e.fn
	}
	return nil
}
