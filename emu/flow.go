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
	insts []sass.Inst
	once  sync.Once
	joins []int32 // immediate post-dominator of each instruction, or noJoin
	loops []int32 // number of the loop that an instruction is part of, or noJoin
	body  [][]int32
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
	case sass.EXIT, sass.RET, sass.KILL, sass.BRX, sass.BRXU, sass.JMX, sass.JMXU, sass.BPT:
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

// loop returns the instructions of the innermost cycle set (strongly connected component) that branch i is part of.
func (f *flow) loop(i int32) []int32 {
	f.once.Do(f.compute)
	if n := f.loops[i]; n != noJoin {
		return f.body[n]
	}
	return nil
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
	next := f.forward()
	back := next.reversed()
	f.postDominators(&next, &back)
	f.components(&next, &back)
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

// components numbers the strongly connected components with more than one instruction, or one that follows itself, by Kosaraju's
// two walks.
func (f *flow) components(next, back *graph) {
	n := int32(len(f.insts))
	seen := make([]bool, n)
	var order []int32
	for i := range n {
		order = walk(next, i, seen, order)
	}
	clear(seen)
	f.loops = make([]int32, n)
	for i := range f.loops {
		f.loops[i] = noJoin
	}
	for k := len(order) - 1; k >= 0; k-- {
		members := walk(back, order[k], seen, nil)
		if len(members) < 2 {
			continue
		}
		for _, m := range members {
			f.loops[m] = int32(len(f.body))
		}
		f.body = append(f.body, members)
	}
}
