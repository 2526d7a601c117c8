package cubin

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Bounds on the names that are demangled; others stay as they are. Names of template libraries reach several KB. The
// time that demangling takes grows with the square of the depth of nested types, and a pointer to a pointer adds a level
// for one character.
const (
	maxMangled = 16 << 10
	maxNested  = 64 // pointers, references, qualifiers and function types in a row
)

// maxDemangled is the exponent of the longest text that a name may become, in bytes: back references in a mangled name
// can double its length over and over.
const maxDemangled = 16

// Demangled returns the kernel's name as it stands in the source, with template arguments and parameters, or the
// mangled name if that is no C++ name.
func (k *Kernel) Demangled() string { return Demangle(k.Name) }

// ShortName returns the kernel's qualified name without template arguments and parameters.
func (k *Kernel) ShortName() string {
	return demangled(k.Name, demangle.NoParams, demangle.NoTemplateParams)
}

// Demangle returns a symbol's name as it stands in the source, or the symbol if it is no C++ name.
func Demangle(name string) string { return demangled(name) }

func demangled(name string, options ...demangle.Option) string {
	if !demanglable(name) {
		return name
	}
	return demangle.Filter(name, append(options, demangle.NoClones, demangle.MaxLength(maxDemangled))...)
}

// demanglable tells whether a symbol is a C++ name within the bounds.
func demanglable(name string) bool {
	if len(name) > maxMangled || !strings.HasPrefix(name, "_Z") {
		return false
	}
	run := 0
	for i := range len(name) {
		if run++; !strings.ContainsRune("PROKVF", rune(name[i])) {
			run = 0
		}
		if run > maxNested {
			return false
		}
	}
	return true
}

// ParamTypes returns the types of the parameters by ordinal, read off the mangled name, or nil if the name does not
// tell as many as the kernel has. The compiler's own pointer marks are in [Param].
func (k *Kernel) ParamTypes() []string {
	if !demanglable(k.Name) {
		return nil
	}
	ast, err := demangle.ToAST(k.Name, demangle.NoClones, demangle.MaxLength(maxDemangled))
	if err != nil {
		return nil
	}
	// The parameter list is the outermost function type of the name; in a template its return type comes with it.
	typed, ok := ast.(*demangle.Typed)
	if !ok {
		return nil
	}
	fn, ok := typed.Type.(*demangle.FunctionType)
	if !ok {
		return nil
	}
	var out []string
	for _, a := range fn.Args {
		out = append(out, demangle.ASTToString(a, demangle.MaxLength(maxDemangled)))
	}
	if len(out) != len(k.Params) {
		return nil
	}
	return out
}
