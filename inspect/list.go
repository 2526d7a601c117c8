package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"shmoo/cubin"
	"shmoo/internal/table"
	"shmoo/sass"
	"shmoo/smem"
)

// ListSchema names the version of the JSON form of a [Listing].
const ListSchema = "shmoo.ls/1"

// Listing is what a file holds: its entries and the kernels of its machine code.
type Listing struct {
	Schema  string   `json:"schema"`
	File    string   `json:"file"`
	Carrier string   `json:"carrier"`
	Fatbins int      `json:"fatbins"`
	Entries []Entry  `json:"entries"`
	Kernels []Kernel `json:"kernels"`
}

// Entry is one piece of GPU code in the file.
type Entry struct {
	Index       int    `json:"index"`
	Kind        string `json:"kind"` // elf, ptx, other
	Arch        int    `json:"arch"`
	Target      string `json:"target,omitempty"` // sm_90a, compute_75; left out where only the content says
	Member      string `json:"member,omitempty"` // of an archive
	Compression string `json:"compression"`
	StoredBytes int64  `json:"stored_bytes"`
	Bytes       int64  `json:"bytes"` // decompressed
}

// Kernel is one kernel of one entry.
type Kernel struct {
	Entry          int      `json:"entry"`
	Target         string   `json:"target"`
	Name           string   `json:"name"`
	Demangled      string   `json:"demangled"`
	Instructions   int      `json:"instructions"` // padding and local functions included
	Registers      int      `json:"registers"`
	SharedBytes    int      `json:"shared_bytes"` // static, without the system's own
	SharedReserved int      `json:"shared_reserved_bytes"`
	MaxThreads     []int    `json:"max_threads,omitempty"`      // launch bound, x y z
	RequiredBlock  []int    `json:"required_threads,omitempty"` // x y z
	Cluster        []int    `json:"cluster,omitempty"`          // x y z
	Params         []Param  `json:"params"`
	ParamBytes     int      `json:"param_bytes"`
	Accesses       []Access `json:"accesses"`
	Unknown        int      `json:"unknown_instructions"`  // of opcodes that the decoder does not know: may be accesses
	NotDecoded     string   `json:"not_decoded,omitempty"` // why the accesses are not known
}

// Param is one parameter. Type is read off the mangled name, "" if that does not tell.
type Param struct {
	Offset int    `json:"offset"`
	Bytes  int    `json:"bytes"`
	Type   string `json:"type,omitempty"`
}

// Access counts the instructions of one operation and width in a kernel.
type Access struct {
	Op    string `json:"op"`          // LDS, STS, LDSM, STSM, ATOMS, LDGSTS, or an engine's: UBLKCP, UTMALDG, HGMMA ...
	Width int    `json:"width_bytes"` // a lane; 4 a matrix for LDSM and STSM; 0 for engines, which have no lanes
	Count int    `json:"count"`
}

// String returns "LDS.128 x16", or "LDSM.x4 x12" for four matrices at a time.
func (a Access) String() string {
	name := a.Op
	switch {
	case a.Op == "LDSM" || a.Op == "STSM":
		name = fmt.Sprintf("%s.x%d", a.Op, a.Width/4)
	case a.Width != 4 && a.Width != 0:
		name = fmt.Sprintf("%s.%d", a.Op, 8*a.Width)
	}
	return fmt.Sprintf("%s x%d", name, a.Count)
}

// Kernels lists a file.
func Kernels(ctx context.Context, f *cubin.File, o Options) (*Listing, error) {
	l := &Listing{
		Schema: ListSchema, File: f.Path, Carrier: f.Carrier.String(), Fatbins: f.Fatbins,
		Entries: []Entry{}, Kernels: []Kernel{},
	}
	each := o.each()
	selected := 0
	for _, e := range f.Entries() {
		l.Entries = append(l.Entries, Entry{
			Index: e.Index, Kind: e.Kind.String(), Arch: e.Arch, Target: e.Target(), Member: e.Member, Compression: e.Compression.String(),
			StoredBytes: e.StoredSize, Bytes: e.Size,
		})
		if e.Kind == cubin.KindELF && each.Select(e) {
			selected++
		}
	}
	byEntry := make([][]Kernel, selected)
	scanners, names := newScanners(), newNames()
	err := f.Each(ctx, each, func(i int, img *cubin.Image) error {
		for _, k := range img.Kernels {
			if o.wants(k) {
				byEntry[i] = append(byEntry[i], describe(k, img.Entry.Index, scanners, names))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.Kernels = append(l.Kernels, slices.Concat(byEntry...)...)
	return l, nil
}

// describe fills a kernel. It copies everything: the image's memory is reused.
func describe(k *cubin.Kernel, entry int, scanners *scannerPool, names *nameCache) Kernel {
	name := names.of(k)
	d := Kernel{
		Entry: entry, Target: k.Image.Target, Name: k.Name, Demangled: name.demangled, Instructions: len(k.Code) / sass.Size,
		Registers: k.Registers, SharedBytes: k.SharedStatic, SharedReserved: k.SharedReserved,
		MaxThreads: shape(k.MaxThreads), RequiredBlock: shape(k.ReqThreads), Cluster: shape(k.Cluster),
		Params: []Param{}, ParamBytes: k.ParamBytes, Accesses: []Access{},
	}
	for i, p := range k.Params {
		q := Param{Offset: p.Offset, Bytes: p.Size}
		if len(name.types) == len(k.Params) {
			q.Type = name.types[i]
		}
		d.Params = append(d.Params, q)
	}
	s, err := scanners.get(k)
	if err != nil {
		d.NotDecoded = err.Error()
		return d
	}
	defer scanners.put(s)
	d.Unknown = s.kernel(k, func(_ uint32, i *sass.Inst) { d.count(i) })
	slices.SortFunc(d.Accesses, func(a, b Access) int {
		return cmp.Or(cmp.Compare(rank(a.Op), rank(b.Op)), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Width, b.Width))
	})
	return d
}

// listOrder is the order of operations in a listing; engines follow.
var listOrder = []string{"LDS", "STS", "LDSM", "STSM", "ATOMS", "LDGSTS"}

func rank(op string) int {
	if i := slices.Index(listOrder, op); i >= 0 {
		return i
	}
	return len(listOrder)
}

func (d *Kernel) count(i *sass.Inst) {
	op, width := i.Op.String(), widthOf(i)
	for n := range d.Accesses {
		if a := &d.Accesses[n]; a.Op == op && a.Width == width {
			a.Count++
			return
		}
	}
	d.Accesses = append(d.Accesses, Access{Op: op, Width: width, Count: 1})
}

func shape(s [3]int) []int {
	if s == ([3]int{}) {
		return nil
	}
	return s[:]
}

// WriteText writes a summary of the entries and one line for each kernel.
func (l *Listing) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s: %s\n", l.File, l.summary()); err != nil || len(l.Kernels) == 0 {
		return err
	}
	t := table.New("target", "regs>", "shared>", "params>", "shared accesses", "kernel")
	for i := range l.Kernels {
		k := &l.Kernels[i]
		t.Row(k.Target, k.Registers, k.sharedText(), len(k.Params), k.accessText(), k.Demangled)
	}
	return t.Write(w)
}

// sharedText is the static size; a "+" says that there are accesses but no static memory, so it is all dynamic.
func (k *Kernel) sharedText() string {
	if k.SharedBytes == 0 && len(k.Accesses) > 0 {
		return "0+"
	}
	return fmt.Sprint(k.SharedBytes)
}

func (k *Kernel) accessText() string {
	if k.NotDecoded != "" {
		return "?"
	}
	var parts []string
	for _, a := range k.Accesses {
		parts = append(parts, a.String())
	}
	if k.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("unknown x%d", k.Unknown))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// summary is "host ELF, 143 fatbins: sm_86 x143, compute_75 x143".
func (l *Listing) summary() string {
	var b strings.Builder
	b.WriteString(l.Carrier)
	if l.Fatbins > 0 {
		fmt.Fprintf(&b, ", %d %s", l.Fatbins, plural(l.Fatbins, "fatbin"))
	}
	var names []string
	count := make(map[string]int)
	for _, e := range l.Entries {
		name := e.Target
		if name == "" {
			name = e.Kind
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	if names == nil {
		b.WriteString(", no GPU code")
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(stem(a), stem(b)) })
	for i, name := range names {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s x%d", sep, name, count[name])
	}
	return b.String()
}

func plural(n int, s string) string {
	if n == 1 {
		return s
	}
	return s + "s"
}

// OpOf returns the unit's operation for a shared-memory instruction, and whether it is one.
func OpOf(i *sass.Inst) (smem.Op, bool) {
	op, ok := sharedOps[i.Op]
	if !ok {
		return 0, false
	}
	switch i.Op {
	case sass.ATOMS:
		if i.Arg(sass.RoleData2) != nil {
			return smem.CompareSwap, true
		}
		if d := i.Dst(); d == nil || d.Reg == sass.RZ {
			return smem.Reduce, true
		}
	case sass.LDGSTS:
		if strings.Contains(mnemonic(i.AppendText(nil, 0)), ".BYPASS") {
			return smem.CopyAsyncCG, true
		}
	}
	return op, true
}

// stem is a target without its number: sm_ or compute_.
func stem(name string) string { return strings.TrimRight(name, "0123456789af") }
