package report

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// A Key identifies a site across versions of its source: what it accesses and how, not where it stands. Sites that agree
// in all of that are told apart by Nth, in the order of the report.
type Key struct {
	Array string
	Op    string
	Text  string // the access as written, blanks normalised; the instruction where there is no text
	Nth   int    // counts from 1
}

// String names the site for people: "STS tile[threadIdx.y][k]", with "#2" for the second of its kind.
func (k Key) String() string {
	s := k.Op
	switch {
	case k.Text != "":
		s += " " + k.Text
	case k.Array != "":
		s += " " + k.Array
	}
	if k.Nth > 1 {
		s += fmt.Sprintf(" #%d", k.Nth)
	}
	return s
}

// Fingerprint returns 16 hexadecimal digits that stand for the key.
func (k Key) Fingerprint() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q %d", k.Array, k.Op, k.Text, k.Nth) // a hash does not fail
	return fmt.Sprintf("%016x", h.Sum64())
}

// Keys returns the key of every site, in the order of Sites. Lines moved, renamed files and wider or narrower accesses of
// the same text keep their keys; an access inserted before others of the same text shifts theirs.
func (r *Report) Keys() []Key {
	keys := make([]Key, len(r.Sites))
	seen := map[Key]int{}
	for i := range r.Sites {
		s := &r.Sites[i]
		k := Key{Array: s.Array, Op: s.Op.String(), Text: strings.Join(strings.Fields(s.Text), " ")}
		if k.Text == "" {
			k.Text = s.Instr
		}
		seen[k]++
		k.Nth = seen[k]
		keys[i] = k
	}
	return keys
}
