// Package sketch reads the subset of CUDA C++ that computes shared-memory addresses and runs it, warp by warp, as a source
// of accesses. No compiler and no GPU take part.
//
//	p, err := sketch.Parse("tile.cu", []byte("__shared__ float t[32][32]; t[threadIdx.x][0];"), sketch.Options{})
//	s, err := p.Source(sketch.Launch{Block: [3]int{32, 1, 1}})
//	r, err := report.Collect(ctx, s, arch.MustLookup("sm_90").Unit)
//	// one site, "t[threadIdx.x][0]": 1 request, 32 wavefronts, ideal 1
//
// A sketch is a whole .cu file, of which one kernel runs and host code is passed over, or bare statements that declare
// their arrays. Integers and pointers are followed exactly, in every lane: C's promotions and conversions, 32-bit
// wrap-around, truncating division. Lanes that diverge run under masks, as on the hardware.
//
// What is not known stays unknown and is counted as unresolved with its reason, never guessed: values loaded from global
// or shared memory, floating-point values other than constants, and kernel parameters without a -D. Under a condition
// that is not known both sides run once and their accesses are unresolved; a loop whose trip count is not known runs its
// body once.
//
// Limits, and where a compiler would differ:
//
//   - Each access of the source is one request. A compiler may merge neighbouring ones into a wider one, drop dead ones
//     or keep values in registers; the machine code is the truth, and package sass reads it.
//   - A struct or vector is moved in pieces as wide as its alignment allows, at most 16 bytes, as a compiler moves it.
//   - A shift by the width or more gives what the hardware gives (0, or the sign); C leaves it undefined.
//   - The value of a plain read such as tile[i][j]; as a statement is not needed; it is counted all the same.
//   - A pointer that comes out of memory is taken to point into global memory.
//   - Lambdas see the variables around them as they are when called, whatever the capture list says.
//   - Constructors with arguments, and explicit specializations of function templates, are not followed: the values they
//     give are unknown, or the general template is used with a warning.
//   - Not covered: goto, exceptions, virtual functions, bit-fields, recursion, range-based for, variadic templates.
//
// A [Define] does more than a #define: it also gives values to template parameters, kernel parameters and constants of its
// name, and it wins over a #define of the source. Types count as values: -D T=half.
//
// How it works: lex, preprocess and parse give a syntax tree; function bodies are parsed when they are first called, so
// that host code and unused functions need not be understood. Compiling a kernel for one launch inlines every call and
// turns expressions into closures over lane vectors, with a scalar path where all lanes agree; what can change neither an
// address nor a branch, such as the arithmetic of a matrix product, compiles to nothing. Running a warp calls the closures.
package sketch
