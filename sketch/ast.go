package sketch

// The syntax tree. Types stay as written (typeExpr) until a kernel is compiled, because they may depend on template
// parameters.

type expr interface{ at() span }

func (s span) at() span { return s }

type (
	intLit struct {
		span
		val uint64
		ty  *ctype
	}
	floatLit struct {
		span
		val float64
		ty  *ctype
	}
	stringLit struct {
		span
		val string
	}
	// ident is a name; lit is what a -D definition gave for it, used when nothing of that name is declared.
	ident struct {
		span
		name  string
		targs []targ
		qual  *typeExpr // what stands before the last '::'; nil for a plain name
		lit   expr
	}
	unary struct {
		span
		op string
		x  expr
	}
	postfix struct {
		span
		op string
		x  expr
	}
	binary struct {
		span
		op   string
		x, y expr
	}
	assign struct {
		span
		op   string // "" for plain assignment, else the operator of a compound one
		x, y expr
	}
	conditional struct {
		span
		cond, yes, no expr
	}
	index struct {
		span
		x, i expr
	}
	member struct {
		span
		x     expr
		name  string
		arrow bool
		targs []targ
	}
	call struct {
		span
		fn   expr
		args []expr
	}
	cast struct {
		span
		ty *typeExpr
		x  expr
		// function names the C++ cast: "reinterpret_cast"; "" for a C cast.
		function string
	}
	construct struct {
		span
		ty   *typeExpr
		args []expr
	}
	initList struct {
		span
		elems []expr
	}
	sizeofExpr struct {
		span
		ty    *typeExpr
		x     expr
		align bool
	}
	// paren keeps the extent of a parenthesised expression.
	paren struct {
		span
		x expr
	}
	lambda struct {
		span
		fn *funcDecl
	}
)

// targ is a template argument: a type, or an expression.
type targ struct {
	ty *typeExpr
	x  expr
}

type typeForm uint8

const (
	formNamed typeForm = iota
	formPointer
	formReference
	formArray
	formDecltype
)

// typeExpr is a type as written.
type typeExpr struct {
	span
	form  typeForm
	name  string // formNamed: canonical for built-in types ("unsigned int"), else the name
	targs []targ
	elem  *typeExpr
	dim   expr // formArray: nil when open; formDecltype: the expression
	isCon bool // const at this level
	// given is what -D put in for name, used when nothing of that name is declared.
	given string
}

type varDecl struct {
	name     string
	span     span // of the name
	ty       *typeExpr
	init     expr
	args     []expr // T x(args)
	hasArgs  bool
	shared   bool
	extern   bool
	static   bool
	constant bool // const or constexpr
	device   bool // __device__, __constant__ or __managed__
	aligns   []expr
	given    expr // what -D says of the name
}

type stmt interface{ at() span }

type (
	declStmt struct {
		span
		vars []*varDecl
	}
	exprStmt struct {
		span
		x expr
	}
	blockStmt struct {
		span
		list []stmt
	}
	ifStmt struct {
		span
		init     stmt
		cond     expr
		yes, no  stmt
		constant bool // if constexpr
	}
	forStmt struct {
		span
		init stmt
		cond expr
		step expr
		body stmt
	}
	whileStmt struct {
		span
		cond expr
		body stmt
		do   bool
	}
	switchStmt struct {
		span
		x    expr
		list []stmt
	}
	caseStmt struct {
		span
		val expr // nil for default
	}
	breakStmt    struct{ span }
	continueStmt struct{ span }
	returnStmt   struct {
		span
		x expr
	}
	asmStmt struct {
		span
		text     string
		out, in  []asmOperand
		volatile bool
	}
	// typeStmt is a using or typedef in a function.
	typeStmt struct {
		span
		name string
		ty   *typeExpr
	}
)

type asmOperand struct {
	name       string
	constraint string
	x          expr
}

type tparam struct {
	name   string
	isType bool
	ty     *typeExpr // of a value parameter
	def    targ
	given  []token // from -D: its tokens
	span   span
}

type funcDecl struct {
	name    string
	span    span // of the name
	kernel  bool
	device  bool
	static  bool // a static member
	ret     *typeExpr
	params  []*varDecl
	tparams []tparam
	bounds  []expr // __launch_bounds__
	// body is parsed on demand from tokens [start, end).
	start, end int
	body       *blockStmt
	parsed     bool
	bad        bool // its parse failed
}

type structDecl struct {
	name    string
	span    span
	fields  []*varDecl
	consts  []*varDecl
	types   []*typeStmt
	aligns  []expr
	tparams []tparam
	union   bool
	methods map[string][]*funcDecl
	// conversions are the conversion operators; ctor is set when there are constructors, which are not followed.
	conversions []*funcDecl
	ctor        bool
}

type enumConst struct {
	name string
	span span
	val  expr   // nil: one more than the previous
	prev string // the constant before it, "" for the first
}

type aliasDecl struct {
	name    string
	ty      *typeExpr
	tparams []tparam
}

// unit is one parsed file.
type unit struct {
	funcs   map[string][]*funcDecl
	order   []*funcDecl // in source order
	structs map[string]*structDecl
	aliases map[string]*aliasDecl
	globals map[string]*varDecl
	enums   map[string]*enumConst
	special map[string]bool   // functions with explicit specializations
	broken  map[string]unsaid // types that could not be read
	// bare is the body of a file without functions.
	bare *funcDecl
}
