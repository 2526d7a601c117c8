package eval

import (
	"encoding/json"
	"testing"
)

// BenchmarkEvaluate is what a keystroke costs: an evaluation and the view of the worst site.
func BenchmarkEvaluate(b *testing.B) {
	var c Catalogue
	data, err := Call(b.Context(), "examples", []byte("{}"))
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		b.Fatal(err)
	}
	for _, e := range c.Examples {
		evaluate, err := json.Marshal(e.Input)
		if err != nil {
			b.Fatal(err)
		}
		view, err := json.Marshal(ViewQuestion{Input: e.Input, Pads: []int{0, 1, 2, 4, 8}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(e.Title, func(b *testing.B) {
			for b.Loop() {
				if _, err := Call(b.Context(), "evaluate", evaluate); err != nil {
					b.Fatal(err)
				}
				if _, err := Call(b.Context(), "view", view); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
