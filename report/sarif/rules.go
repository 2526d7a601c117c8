package sarif

import "shmoo/diag"

// A ruleText describes a diagnostic id to the readers of a review.
type ruleText struct {
	name, short, full, help string
	tags                    []string
}

// ruleTexts describes the ids that stand for findings about accesses. Others are named by their id alone.
var ruleTexts = map[string]ruleText{
	conflictID: {
		name:  "SharedMemoryBankConflict",
		short: "Shared-memory accesses take more wavefronts than they need",
		full: "Lanes of a warp that are served together need different words of one bank. The bank delivers one word per wavefront, " +
			"so the request takes several.",
		help: "Pad the rows of the array, or swizzle its index, so that lanes served together fall on different banks. " +
			"\"shmoo explain\" shows the request, \"shmoo fix\" searches for the cheapest change.",
		tags: []string{"performance", "cuda"},
	},
	"smem/fault": {
		name:  "SharedMemoryFault",
		short: "A shared-memory access that the hardware refuses",
		full:  "An address is no multiple of the access's size, or ends past the shared memory of the block.",
		help:  "Check the index, the alignment of the array and the bytes of dynamic shared memory given at launch.",
		tags:  []string{"correctness", "cuda"},
	},
	"ncu/source-page": {
		name:  "SourcePageDiffers",
		short: "Nsight Compute's Source page shows another number than the hardware counts",
		full:  "The Source page judges by itself whether a wide load pairs, and differs from the hardware's counter for some loads.",
		help:  "Trust the hardware's counter, with which the numbers here agree.",
		tags:  []string{"profiling", "cuda"},
	},
	unresolvedID: {
		name:  "SharedMemoryUnresolved",
		short: "A shared-memory access whose addresses are not known",
		full:  "The addresses depend on data that was not given, so conflicts can be neither counted nor excluded.",
		help:  "Give the missing values, or check this access on a device.",
		tags:  []string{"coverage", "cuda"},
	},
}

// ruleSet is the rules that occur, in the order of their first result.
type ruleSet struct {
	list  []rule
	index map[string]int
}

func rulesOf(list []finding) *ruleSet {
	s := &ruleSet{list: []rule{}, index: map[string]int{}}
	for _, f := range list {
		if _, ok := s.index[f.d.ID]; ok {
			continue
		}
		s.index[f.d.ID] = len(s.list)
		s.list = append(s.list, ruleOf(f.d))
	}
	return s
}

func ruleOf(d *diag.Diagnostic) rule {
	t, ok := ruleTexts[d.ID]
	if !ok {
		t = ruleText{short: "Diagnostic " + d.ID, tags: []string{"cuda"}}
	}
	r := rule{
		ID: d.ID, Name: t.name, ShortDescription: text{t.short},
		DefaultConfiguration: configuration{Level: levels[d.Severity]},
		Properties:           ruleProperties{Tags: t.tags},
	}
	if t.full != "" {
		r.FullDescription = &text{t.full}
	}
	if t.help != "" {
		r.Help = &text{t.help}
	}
	return r
}
