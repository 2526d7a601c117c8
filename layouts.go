package shmoo

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/layout"
)

// A placement lays an array out by a transform of its bytes.
type placement struct {
	array     string
	transform layout.Transform
}

// parsePlacement reads "ARRAY=TRANSFORM", such as "tile=Swizzle<3,4,3>".
func parsePlacement(text string) (placement, error) {
	name, notation, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return placement{}, fmt.Errorf("layout %q: want ARRAY=TRANSFORM", text)
	}
	t, err := layout.ParseTransform(strings.TrimSpace(notation))
	if err != nil {
		return placement{}, fmt.Errorf("layout of %s: %w", name, err)
	}
	return placement{strings.TrimSpace(name), t}, nil
}

// directive finds a comment that lays an array of a sketch out, "// shmoo layout tile: Swizzle<3,4,3>". It returns the array,
// the transform and the column of the transform from 0. It is written out because regular expressions would be a tenth of
// what a page has to load.
func directive(line string) (array, transform string, col int, ok bool) {
	const blank = " \t"
	for at := 0; ; {
		i := strings.Index(line[at:], "//")
		if i < 0 {
			return "", "", 0, false
		}
		at += i + len("//")
		rest := strings.TrimLeft(line[at:], blank)
		for _, word := range []string{"shmoo", "layout"} {
			after, found := strings.CutPrefix(rest, word)
			if rest = strings.TrimLeft(after, blank); !found || rest == after {
				rest = ""
			}
		}
		name, text, found := strings.Cut(rest, ":")
		if name = strings.TrimRight(name, blank); found && isWord(name) {
			text = strings.TrimLeft(text, blank)
			return name, strings.TrimSpace(text), len(line) - len(text), true
		}
	}
}

func isWord(s string) bool {
	for _, c := range s {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// directives returns the layouts that a sketch's comments ask for.
func directives(name string, text []byte) ([]placement, error) {
	var list []placement
	line := 0
	for s := range strings.Lines(string(text)) {
		line++
		array, transform, col, ok := directive(s)
		if !ok {
			continue
		}
		p, err := parsePlacement(array + "=" + transform)
		if err != nil {
			return nil, diag.Errorf("layout/directive", diag.Span{Pos: diag.Pos{File: name, Line: line, Col: col + 1},
				Len: len(transform)}, "%v", err)
		}
		list = append(list, p)
	}
	return list, nil
}

// place lays arrays of a source out anew. Arrays behind one that grows move up, each keeping its alignment.
func place(source access.Source, placements []placement) (access.Source, error) {
	if len(placements) == 0 {
		return source, nil
	}
	p := &placed{Source: source, arrays: append([]access.Array(nil), source.Arrays()...)}
	transforms := map[string]layout.Transform{}
	for _, placement := range placements {
		if _, ok := transforms[placement.array]; ok {
			return nil, fmt.Errorf("layout of %s is given twice", placement.array)
		}
		transforms[placement.array] = placement.transform
	}
	shift := 0
	for i, from := range source.Arrays() {
		to := &p.arrays[i]
		to.Offset += shift
		t := transforms[from.Name]
		delete(transforms, from.Name)
		p.transforms = append(p.transforms, t)
		if t == nil {
			continue
		}
		if from.Size == 0 {
			return nil, fmt.Errorf("layout of %s: its size is not known, give the dynamic shared memory", from.Name)
		}
		to.Size = int(t.Extent(uint64(from.Size)))
		shift += roundUp(max(0, to.Size-from.Size), arrayAlign)
	}
	for name := range transforms {
		return nil, fmt.Errorf("layout of %s: no such array", name)
	}
	p.grows = shift
	return p, nil
}

// arrayAlign keeps arrays behind one that grows as aligned as they were, for accesses of any width.
const arrayAlign = 128

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// placed is a source whose arrays are laid out anew.
type placed struct {
	access.Source
	arrays     []access.Array
	transforms []layout.Transform // by array; nil for one that stays as it is
	grows      int                // bytes that all arrays together grow by
}

// Arrays implements access.Source.
func (p *placed) Arrays() []access.Array { return p.arrays }

// Accesses implements access.Source.
func (p *placed) Accesses(ctx context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		before := p.Source.Arrays()
		var moved access.Access
		var addr []uint32
		for a, err := range p.Source.Accesses(ctx) {
			if err == nil && a.Unresolved == "" {
				moved = *a
				addr = append(addr[:0], a.Request.Addr...)
				for lanes := a.Request.Addressing(); lanes != 0 && err == nil; lanes &= lanes - 1 {
					lane := lanes.Lowest()
					addr[lane], err = p.move(before, addr[lane], a.Request.Bytes())
				}
				moved.Request.Addr = addr
				a = &moved
			}
			if !yield(a, err) {
				return
			}
		}
	}
}

// move returns where an access of some bytes at an offset of the old layout is in the new one, or an error if the layout
// tears it apart. Accesses outside all arrays stay.
func (p *placed) move(before []access.Array, offset uint32, bytes int) (uint32, error) {
	for i := range before {
		if !before[i].Covers(int(offset)) {
			continue
		}
		inside := offset - uint32(before[i].Offset)
		if t := p.transforms[i]; t != nil {
			if int(t.Granule()) < bytes {
				return 0, fmt.Errorf("layout of %s: %s keeps %d bytes in one piece, an access takes %d", before[i].Name, t,
					t.Granule(), bytes)
			}
			inside = t.Map(inside)
		}
		return uint32(p.arrays[i].Offset) + inside, nil
	}
	return offset, nil
}
