package unitfile

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"shmoo/smem"
)

// Schema is the version of the format.
const Schema = "shmoo.unit/1"

// A File is a unit and how it is known.
type File struct {
	Unit   *smem.Unit
	Origin Origin
	// Evidence says per rule how far its samples decide it. A rule may be missing from it.
	Evidence map[smem.Key]Evidence
}

// Origin is where the rules come from.
type Origin struct {
	Device  string // "NVIDIA H200"
	Driver  string // its version
	Date    string // "2026-11-30"
	Samples int    // patterns that were measured
	Source  string // file of a recording; "" for a device
}

// Evidence is what stands behind a rule.
type Evidence struct {
	Samples   int
	Undecided []string // what the samples leave open, such as "pairing"
}

// Write writes f to w. Rules are in order of operation and width, so equal files have equal text.
func Write(w io.Writer, f *File) error {
	var b strings.Builder
	u := f.Unit
	fmt.Fprintf(&b, "schema = %q\nname = %s\nlanes = %d\nbanks = %d\nbank_bytes = %d\nsize = %d\n", Schema, quote(u.Name),
		u.Lanes, u.Banks, u.BankBytes, u.Size)
	o := f.Origin
	b.WriteString("\n[origin]\n")
	for _, field := range []struct{ key, value string }{
		{"device", o.Device}, {"driver", o.Driver}, {"date", o.Date}, {"source", o.Source},
	} {
		if field.value != "" {
			fmt.Fprintf(&b, "%s = %s\n", field.key, quote(field.value))
		}
	}
	fmt.Fprintf(&b, "samples = %d\n", o.Samples)
	keys := slices.SortedFunc(maps.Keys(u.Rules), func(a, b smem.Key) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Width, b.Width))
	})
	for _, key := range keys {
		writeRule(&b, key, u.Rules[key], f.Evidence[key])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRule(b *strings.Builder, key smem.Key, r smem.Rule, e Evidence) {
	fmt.Fprintf(b, "\n[[rule]]\nop = %q\nwidth = %d\ngroups = %s\n", key.Op, key.Width, groupsText(r.Groups))
	if r.Paired != nil {
		fmt.Fprintf(b, "paired = %s\n", groupsText(r.Paired))
	}
	fmt.Fprintf(b, "shares = %v\n", r.Shares)
	if r.PerPass != 1 {
		fmt.Fprintf(b, "per_pass = %d\n", r.PerPass)
	}
	for _, f := range []struct {
		key    string
		cycles float32
	}{{"floor", r.Floor}, {"paired_floor", r.PairedFloor}, {"extra", r.Extra}} {
		if f.cycles != 0 {
			fmt.Fprintf(b, "%s = %s\n", f.key, strconv.FormatFloat(float64(f.cycles), 'f', -1, 32))
		}
	}
	fmt.Fprintf(b, "basis = %q\n", r.Basis)
	if e.Samples > 0 {
		fmt.Fprintf(b, "samples = %d\n", e.Samples)
	}
	if len(e.Undecided) > 0 {
		quoted := make([]string, len(e.Undecided))
		for i, what := range e.Undecided {
			quoted[i] = quote(what)
		}
		fmt.Fprintf(b, "undecided = [%s]\n", strings.Join(quoted, ", "))
	}
}

// quote returns s as a TOML string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "?") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func groupsText(groups []smem.Mask) string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = strconv.Quote(FormatLanes(g))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// FormatLanes returns the lanes of a mask as ranges: "0-3 20-23".
func FormatLanes(m smem.Mask) string {
	var ranges []string
	for m != 0 {
		low := m.Lowest()
		high := low + bits.TrailingZeros64(^uint64(m>>uint(low)))
		if high-low == 1 {
			ranges = append(ranges, strconv.Itoa(low))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", low, high-1))
		}
		m &^= smem.Lanes(low, high)
	}
	return strings.Join(ranges, " ")
}

// ParseLanes returns the mask that FormatLanes writes as s. Ranges may come in any order but must not overlap.
func ParseLanes(s string) (smem.Mask, error) {
	var m smem.Mask
	for _, field := range strings.Fields(s) {
		first, last, isRange := strings.Cut(field, "-")
		if !isRange {
			last = first
		}
		low, err1 := strconv.ParseUint(first, 10, 8)
		high, err2 := strconv.ParseUint(last, 10, 8)
		if err1 != nil || err2 != nil || low > high || high >= smem.MaxLanes {
			return 0, fmt.Errorf("got lanes %q, want a range such as 0-7 below %d", field, smem.MaxLanes)
		}
		lanes := smem.Lanes(int(low), int(high)+1)
		if m&lanes != 0 {
			return 0, fmt.Errorf("got lanes %q twice, want every lane once", field)
		}
		m |= lanes
	}
	if m == 0 {
		return 0, fmt.Errorf("got no lanes in %q, want a range such as 0-7", s)
	}
	return m, nil
}
