package explain

import (
	"fmt"

	"shmoo/bankmap"
	"shmoo/smem"
)

// stepsOf words the steps of a walk. A walk that ended in a fault has no panel.
func stepsOf(u *smem.Unit, r *smem.Request, walk *smem.Walk, panel *bankmap.Panel, fault *smem.Fault) []Step {
	s := stepWriter{u, r, walk, panel, fault}
	steps := make([]Step, len(walk.Steps))
	for i, step := range walk.Steps {
		steps[i] = Step{
			Stage: step.Stage.String(), Lanes: bankmap.Lanes(step.Lanes), Waiting: bankmap.Lanes(step.Waiting),
			Pass: step.Wavefront, Text: stepTexts[step.Stage](&s, step),
		}
	}
	return steps
}

type stepWriter struct {
	u     *smem.Unit
	r     *smem.Request
	walk  *smem.Walk
	panel *bankmap.Panel
	fault *smem.Fault
}

// stepTexts says how each stage is worded.
var stepTexts = map[smem.Stage]func(*stepWriter, smem.Step) string{
	smem.Drop:      (*stepWriter).drop,
	smem.Convert:   (*stepWriter).convert,
	smem.Check:     (*stepWriter).check,
	smem.Decode:    (*stepWriter).decode,
	smem.Split:     (*stepWriter).split,
	smem.Resolver:  (*stepWriter).resolver,
	smem.BankRead:  (*stepWriter).banks,
	smem.Crossbar:  (*stepWriter).crossbar,
	smem.WriteBack: (*stepWriter).writeBack,
	smem.Retire:    (*stepWriter).retire,
}

func (s *stepWriter) drop(step smem.Step) string {
	if step.Lanes == 0 {
		return "every lane takes part"
	}
	if step.Lanes&s.r.Active == 0 {
		return fmt.Sprintf("lanes %s are inactive and leave", bankmap.Lanes(step.Lanes))
	}
	return fmt.Sprintf("lanes %s leave: they are inactive, or their addresses belong to no matrix", bankmap.Lanes(step.Lanes))
}

func (s *stepWriter) convert(smem.Step) string {
	return "the base of the shared window is subtracted from the generic addresses"
}

func (s *stepWriter) check(smem.Step) string {
	if s.fault != nil {
		return fmt.Sprintf("the address of lane %d is refused; the hardware throws an exception", s.fault.Lane)
	}
	aligned := ""
	if n := s.r.Bytes(); n > 1 {
		aligned = fmt.Sprintf("is a multiple of %d and ", n)
	}
	return fmt.Sprintf("every address %sends within the %d bytes of shared memory", aligned, s.u.Size)
}

func (s *stepWriter) decode(smem.Step) string {
	banks := 0
	for _, c := range s.panel.Counts {
		if c.Lanes > 0 {
			banks++
		}
	}
	return fmt.Sprintf("word = address / %d, bank = word mod %d, row = word / %d: %s, %s",
		s.u.BankBytes, s.u.Banks, s.u.Banks, count(banks, "bank"), count(len(s.panel.Rows), "row"))
}

func (s *stepWriter) split(smem.Step) string {
	text := ""
	for i, g := range s.panel.Groups {
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%s: lanes %s", groupName(s.r.Op, g.Index), g.Lanes)
	}
	if text == "" {
		return "no group has a lane"
	}
	return text
}

func groupName(op smem.Op, index int) string {
	if op.IsMatrix() {
		return fmt.Sprintf("matrix %d", index)
	}
	return fmt.Sprintf("group %d", index)
}

func (s *stepWriter) resolver(step smem.Step) string {
	front := &s.walk.Wavefronts[step.Wavefront]
	text := fmt.Sprintf("pass %s serves lanes %s of %s", s.panel.Passes[step.Wavefront].Name, bankmap.Lanes(front.Lanes),
		groupName(s.r.Op, front.Group))
	left := step.Waiting & s.walk.Outcome.Groups[front.Group]
	if left == 0 {
		return text
	}
	return text + fmt.Sprintf("; lanes %s need busy banks and wait", bankmap.Lanes(left))
}

func (s *stepWriter) banks(step smem.Step) string {
	var busy []int
	for bank, row := range s.walk.Wavefronts[step.Wavefront].Row[:s.u.Banks] {
		if row >= 0 {
			busy = append(busy, bank)
		}
	}
	does := "reads"
	if s.r.Op.Writes() {
		does = "writes"
	}
	if s.r.Op == smem.Atomic || s.r.Op == smem.Reduce || s.r.Op == smem.CompareSwap {
		does = "updates"
	}
	var set bankmap.Lanes // banks print like lanes
	for _, bank := range busy {
		set |= 1 << uint(bank)
	}
	if len(busy) == 1 {
		return fmt.Sprintf("bank %s %s one word", set, does)
	}
	return fmt.Sprintf("banks %s: each %s one word", set, does)
}

func (s *stepWriter) crossbar(step smem.Step) string {
	if s.r.Op.Writes() {
		return fmt.Sprintf("data of lanes %s goes to those banks", bankmap.Lanes(step.Lanes))
	}
	return fmt.Sprintf("data of the banks goes to lanes %s", bankmap.Lanes(step.Lanes))
}

func (s *stepWriter) writeBack(step smem.Step) string {
	switch s.r.Op {
	case smem.Load, smem.LoadMatrix:
		return "the data goes to the register file"
	case smem.Atomic, smem.CompareSwap:
		return "the old values go to the register file"
	}
	return "there is no result to write back"
}

func (s *stepWriter) retire(smem.Step) string {
	if len(s.walk.Wavefronts) == 0 {
		return "there was nothing to do"
	}
	return fmt.Sprintf("every lane is served: %s in %s", passes(len(s.walk.Wavefronts)),
		count(s.walk.Outcome.Wavefronts, "wavefront"))
}
