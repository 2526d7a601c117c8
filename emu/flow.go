package emu

import (
	"sync"

	"shmoo/sass"
)

// noJoin marks an instruction whose branch has no place where both sides meet.
const noJoin = -1

// flow is the control flow graph of a kernel by instruction. It is needed only where a branch depends on unknown data, and
// computed when first asked for.
type flow struct {
	insts    []sass.Inst
	indirect map[int32][]int32 // targets of indirect branches, where known
	once     sync.Once
	jumps    map[int32]int32 // calls that do not come back, and where they go
	next     graph
	back     graph
	joins    []int32 // immediate post-dominator of each instruction, or noJoin
	mu       sync.Mutex
	loops    map[int32][]int32 // by branch; under mu
}

// successors appends the instructions that may follow instruction i. Calls count as going on behind the call.
func (f *flow) successors(to []int32, i int32) []int32 {
	in := &f.insts[i]
	next, certain := i+1, in.Guard.Always()
	target := int32(noJoin)
	if t, ok := in.Target(uint64(i) * instSize); ok && t%instSize == 0 && t/instSize < uint64(len(f.insts)) {
		target = int32(t / instSize)
	}
	switch in.Op {
	case sass.CALL:
		jump, ok := f.jumps[i]
		if !ok {
			certain = false
			break
		}
		target = jump
		fallthrough
	case sass.BRA, sass.JMP:
		if target != noJoin {
			to = append(to, target)
		}
		for _, role := range []sass.Role{sass.RolePp, sass.RolePq} {
			if p := in.Arg(role); p != nil && (p.Reg != sass.PT || p.Is(sass.FlagNot)) {
				certain = false
			}
		}
		if in.Mods[sass.ModBra] >= uint8(sass.BraDiv) {
			certain = false
		}
	case sass.BRX, sass.BRXU:
		to = append(to, f.indirect[i]...)
	case sass.EXIT, sass.RET, sass.KILL, sass.JMX, sass.JMXU, sass.BPT:
	default:
		certain = false
	}
	if !certain && int(next) < len(f.insts) && next != target {
		to = append(to, next)
	}
	return to
}

// join returns the first instruction that every path from branch i goes through, or noJoin. Paths that end (EXIT, RET) count as
// paths.
func (f *flow) join(i int32) int32 {
	f.once.Do(f.compute)
	return f.joins[i]
}

// loop returns the instructions that may run between two executions of branch i before its sides meet: those that i reaches and
// that reach i, not through the join.
func (f *flow) loop(i int32) []int32 {
	f.once.Do(f.compute)
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.loops[i]
	if !ok {
		down := reach(&f.next, i, f.joins[i])
		up := reach(&f.back, i, f.joins[i])
		for k := range int32(len(f.insts)) {
			if down[k] && up[k] {
				body = append(body, k)
			}
		}
		f.loops[i] = body
	}
	return body
}

// reach returns what is reached from a node along at least one edge without going through a barrier.
func reach(g *graph, from, barrier int32) []bool {
	seen := make([]bool, len(g.start)-1)
	list := []int32{from}
	for len(list) > 0 {
		node := list[len(list)-1]
		list = list[:len(list)-1]
		for _, to := range g.of(node) {
			if to != barrier && !seen[to] {
				seen[to] = true
				list = append(list, to)
			}
		}
	}
	return seen
}

// graph holds edges as one list: those of node i are list[start[i]:start[i+1]].
type graph struct {
	start, list []int32
}

func (g *graph) of(i int32) []int32 { return g.list[g.start[i]:g.start[i+1]] }

// forward returns the successors of all instructions.
func (f *flow) forward() graph {
	g := graph{start: make([]int32, 1, len(f.insts)+1)}
	for i := range f.insts {
		g.list = f.successors(g.list, int32(i))
		g.start = append(g.start, int32(len(g.list)))
	}
	return g
}

// reversed returns the graph with all edges turned around.
func (g *graph) reversed() graph {
	n := len(g.start) - 1
	r := graph{start: make([]int32, n+1), list: make([]int32, len(g.list))}
	for _, to := range g.list {
		r.start[to+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	fill := append([]int32(nil), r.start...)
	for i := range int32(n) {
		for _, to := range g.of(i) {
			r.list[fill[to]] = i
			fill[to]++
		}
	}
	return r
}

func (f *flow) compute() {
	f.next = f.forward()
	if f.findJumps() {
		f.next = f.forward()
	}
	f.back = f.next.reversed()
	f.loops = map[int32][]int32{}
	f.postDominators(&f.next, &f.back)
}

// findJumps finds calls that are far jumps: compilers use CALL.NOINC so, inside one function. A call is one where no RET can be reached
// from its target; others go on behind the call.
func (f *flow) findJumps() bool {
	f.jumps = map[int32]int32{}
	returns := map[int32]bool{}
	for i := range f.insts {
		in := &f.insts[i]
		t, ok := in.Target(uint64(i) * instSize)
		if in.Op != sass.CALL || !ok || t%instSize != 0 || t/instSize >= uint64(len(f.insts)) {
			continue
		}
		target := int32(t / instSize)
		if _, ok := returns[target]; !ok {
			returns[target] = f.insts[target].Op == sass.RET
			for k, seen := range reach(&f.next, target, noJoin) {
				returns[target] = returns[target] || seen && f.insts[k].Op == sass.RET
			}
		}
		if !returns[target] {
			f.jumps[int32(i)] = target
		}
	}
	return len(f.jumps) > 0
}

// walk visits what is reached from a node along a graph and appends the nodes in post-order.
func walk(g *graph, from int32, seen []bool, order []int32) []int32 {
	type visit struct{ node, next int32 }
	if seen[from] {
		return order
	}
	seen[from] = true
	stack := []visit{{from, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if edges := g.of(top.node); int(top.next) < len(edges) {
			to := edges[top.next]
			top.next++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, visit{to, 0})
			}
			continue
		}
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	return order
}

// postDominators computes the immediate post-dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
// Algorithm") on the reversed graph, from a virtual end behind all instructions without successors.
func (f *flow) postDominators(next, back *graph) {
	n := int32(len(f.insts))
	end := n
	seen := make([]bool, n)
	var order []int32
	for i := range n {
		if len(next.of(i)) == 0 {
			order = walk(back, i, seen, order)
		}
	}
	rank := make([]int32, n+1)
	for k, node := range order {
		rank[node] = int32(k)
	}
	rank[end] = int32(len(order))
	dom := make([]int32, n+1)
	for i := range dom {
		dom[i] = noJoin
	}
	dom[end] = end
	meet := func(a, b int32) int32 {
		for a != b {
			for rank[a] < rank[b] {
				a = dom[a]
			}
			for rank[b] < rank[a] {
				b = dom[b]
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for k := len(order) - 1; k >= 0; k-- {
			node := order[k]
			to := int32(noJoin)
			if len(next.of(node)) == 0 {
				to = end
			}
			for _, s := range next.of(node) {
				switch {
				case dom[s] == noJoin:
				case to == noJoin:
					to = s
				default:
					to = meet(to, s)
				}
			}
			if to != dom[node] {
				dom[node], changed = to, true
			}
		}
	}
	for i, to := range dom {
		if to == end {
			dom[i] = noJoin
		}
	}
	f.joins = dom[:n]
}
