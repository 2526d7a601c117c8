package fix

import (
	"fmt"

	"shmoo/smem"
)

// issueSlots is how many warp instructions a multiprocessor issues in the time of one wavefront: four schedulers issue
// one each per cycle (CUDA C++ Programming Guide, "SIMT architecture" of compute capability 7.x and later), the data
// stage of shared memory makes one wavefront.
const issueSlots = 4

// padCopy is what a cp.async.cg request of 16 bytes a lane takes longer, in cycles, in rows padded by 16 bytes than in
// swizzled ones: 11.4 against 8.0 by a clock probe on an H200 (8 rows of 64 bytes). Its rule is not known; its
// wavefronts here are a store's.
const padCopy = 3.4

// conclude chooses the recommendation and states what is proved.
func (r *Result) conclude() {
	top := &r.Pareto[0]
	r.OptimalInGeneral = top.Wavefronts == r.Bound.Wavefronts
	r.OptimalInFamily = true
	for _, s := range r.Searched {
		if !s.Exhausted && s.Note != notAllowed && s.Note != notNeeded {
			r.OptimalInFamily = false
		}
	}
	requests := int64(0)
	for i := range r.Problem.Requests {
		requests += r.Problem.Requests[i].Count
	}
	switch {
	case r.Before.Wavefronts == r.Bound.Wavefronts:
		r.Reason = fmt.Sprintf("leave it: %d wavefronts are the fewest any layout can have", r.Before.Wavefronts)
		return
	case top.Wavefronts == r.Before.Wavefronts:
		r.Reason = fmt.Sprintf("leave it: no candidate has fewer than the present %d wavefronts", r.Before.Wavefronts)
		return
	}
	best := r.recommend(requests)
	if best == nil {
		r.Reason = fmt.Sprintf("leave it: the index instructions would cost more issue slots than the %d wavefronts saved",
			r.Before.Wavefronts-top.Wavefronts)
		return
	}
	r.Best = best
	r.Reason = r.why(best)
}

// recommend weighs wavefronts and issue slots in the same unit, cycles of a multiprocessor that is busy with this
// alone; a lost block per multiprocessor outweighs everything but a like share of wavefronts. Ties go to fewer
// instructions, then bytes.
func (r *Result) recommend(requests int64) *Candidate {
	var best *Candidate
	copies := r.copies()
	score := func(c *Candidate) float64 {
		cycles := float64(c.Wavefronts) + float64(requests*int64(c.Instructions+len(c.Narrowed)))/issueSlots
		if c.Family == PadOf {
			cycles += padCopy * float64(copies)
		}
		if c.Blocks == 0 {
			return cycles * 1e9
		}
		return cycles * float64(max(1, r.Before.Blocks)) / float64(c.Blocks)
	}
	for i := range r.Pareto {
		c := &r.Pareto[i]
		if c.Family == None || score(c) >= score(&r.Before) {
			continue
		}
		if best == nil || score(c) < score(best) {
			best = c
		}
	}
	return best
}

// copies counts the requests of cp.async.cg.
func (r *Result) copies() int64 {
	n := int64(0)
	for i := range r.Problem.Requests {
		if q := &r.Problem.Requests[i]; q.Op == smem.CopyAsyncCG {
			n += q.Count
		}
	}
	return n
}

func (r *Result) why(c *Candidate) string {
	text := fmt.Sprintf("%d of %d wavefronts remain", c.Wavefronts, r.Before.Wavefronts)
	switch {
	case c.Wavefronts == r.Bound.Wavefronts:
		text += ", the fewest any layout can have"
	case c.Wavefronts == r.Pareto[0].Wavefronts && r.OptimalInFamily:
		text += fmt.Sprintf(", the fewest in the families searched (a bound for all layouts is %d)", r.Bound.Wavefronts)
	}
	if top := &r.Pareto[0]; top.Wavefronts < c.Wavefronts && top.Instructions > c.Instructions {
		text += fmt.Sprintf("; %s would leave %d, but its %d index instructions an access outweigh that", top.Transform,
			top.Wavefronts, top.Instructions)
	}
	if c.Blocks < r.Before.Blocks {
		text += fmt.Sprintf("; it costs blocks per multiprocessor: %d of %d remain", c.Blocks, r.Before.Blocks)
	}
	for i := range r.Pareto {
		k := &r.Pareto[i]
		if k.Wavefronts <= c.Wavefronts && k.Blocks < r.Before.Blocks && c.Blocks == r.Before.Blocks {
			text += fmt.Sprintf("; %s would leave only %d of %d blocks per multiprocessor", k.Transform, k.Blocks, r.Before.Blocks)
			break
		}
	}
	if r.copies() > 0 {
		text += "; cp.async.cg is not modelled exactly, its wavefronts are estimates, and pads are known to slow it down"
	}
	return text
}

const (
	notAllowed = "not allowed"
	notNeeded  = "not needed: the bound is reached"
)
