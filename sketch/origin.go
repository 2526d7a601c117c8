package sketch

// origin says what a pointer value may point into. It is worked out after compiling, when all assignments are known.
type origin struct {
	array   *sharedArray
	unknown bool // may point into shared memory that is not known by name
	from    []*origin
}

func (o *origin) add(from *origin) {
	if o != nil && from != nil && o != from {
		o.from = append(o.from, from)
	}
}

// arrays returns the one array that the origin leads to, or whether it leads to several or unknown ones.
func (o *origin) resolve() (array *sharedArray, shared bool) {
	seen := map[*origin]bool{}
	several := false
	stack := []*origin{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		if o.unknown {
			shared, several = true, true
		}
		if o.array != nil {
			shared = true
			if array != nil && array != o.array {
				several = true
			}
			array = o.array
		}
		stack = append(stack, o.from...)
	}
	if several {
		array = nil
	}
	return array, shared
}

// sharedArray is a shared array of the kernel.
type sharedArray struct {
	name    string
	decl    *varDecl
	span    span
	ty      *ctype
	off     int64
	align   int
	dynamic bool
	dims    []dimension
	from    *origin
	elem    *typeExpr
}
