package fix

import (
	"encoding/json"
	"fmt"
	"io"

	"shmoo/layout"
)

// CertificateSchema names the version of the certificate's JSON form.
const CertificateSchema = "shmoo.certificate/1"

// Certificate is everything that a stranger needs to check a result: the requests, the layout, the counts and the
// claims.
type Certificate struct {
	Schema string `json:"schema"`
	Arch   string `json:"arch"`
	Array  string `json:"array"`
	// Present is the layout of the code as it is: id, or the pad in its declaration.
	Present string `json:"present"`
	// ArrayBytes is the size of the array without any layout, Bytes with Transform, Budget the largest that was
	// allowed.
	ArrayBytes   int    `json:"array_bytes"`
	Bytes        int    `json:"bytes"`
	Budget       int    `json:"budget"`
	Granule      int    `json:"granule"`
	Transform    string `json:"transform"`
	Instructions int    `json:"instructions"`

	Sites    []CertifiedSite    `json:"sites"`
	Before   int64              `json:"before"`
	After    int64              `json:"after"`
	Bound    int64              `json:"bound"`
	Claims   Claims             `json:"claims"`
	Requests []CertifiedRequest `json:"requests"`
}

// CertifiedSite is a site with its wavefronts.
type CertifiedSite struct {
	Site   string `json:"site"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
	Ideal  int64  `json:"ideal"`
	Bound  int64  `json:"bound"`
}

// CertifiedRequest is one distinct request; addresses count from the start of the array, those of inactive lanes are 0.
type CertifiedRequest struct {
	Site  int      `json:"site"`
	Op    string   `json:"op"`
	Width int      `json:"width"`
	Mask  string   `json:"mask"` // hexadecimal
	Addr  []uint32 `json:"addr"`
	Count int64    `json:"count"`
}

// Claims say what is proved. A family that was not searched to its end is nil.
type Claims struct {
	// General: no layout that keeps granules in one piece has fewer wavefronts.
	General bool `json:"general"`
	// Pads, Swizzles and Linear: no legal member has fewer wavefronts.
	Pads     *PadSpace     `json:"pads,omitempty"`
	Swizzles *SwizzleSpace `json:"swizzles,omitempty"`
	Linear   *LinearSpace  `json:"linear,omitempty"`
}

// Certificate returns the certificate of a candidate of the result, or an error for one that breaks up accesses: its
// requests are not those of the source.
func (r *Result) Certificate(c *Candidate) (*Certificate, error) {
	if len(c.Narrowed) > 0 {
		return nil, &LimitError{fmt.Sprintf("%s: no certificate for a layout that breaks up wide accesses", c.Transform)}
	}
	if _, err := layout.ParseTransform(c.Transform.String()); err != nil {
		return nil, &LimitError{fmt.Sprintf("%s: no certificate for a layout that is no transform of bytes", c.Transform)}
	}
	p := r.Problem
	out := &Certificate{
		Schema: CertificateSchema, Arch: p.Arch.Name, Array: p.Array.Name,
		Present: p.present().String(), ArrayBytes: p.Array.Size, Bytes: c.Bytes, Budget: r.limit, Granule: int(p.granule()),
		Transform: c.Transform.String(), Instructions: c.Instructions,
		Before: r.Before.Wavefronts, After: c.Wavefronts, Bound: r.Bound.Wavefronts,
	}
	for i := range p.Sites {
		out.Sites = append(out.Sites, CertifiedSite{
			Site: siteName(&p.Sites[i]), Before: r.Before.Sites[i], After: c.Sites[i], Ideal: r.Ideal[i], Bound: r.Bound.Sites[i],
		})
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		out.Requests = append(out.Requests, CertifiedRequest{
			Site: q.Site, Op: q.Op.String(), Width: q.Width, Mask: fmt.Sprintf("%x", uint64(q.Active)), Addr: q.Addr, Count: q.Count,
		})
	}
	out.Claims.General = c.Wavefronts == r.Bound.Wavefronts
	if c.Wavefronts > r.Pareto[0].Wavefronts || r.Options.Narrow {
		return out, nil
	}
	for _, s := range r.Searched {
		if !s.Exhausted {
			continue
		}
		switch s.Family {
		case PadOf:
			out.Claims.Pads = &r.pads
		case XOR:
			out.Claims.Swizzles = &r.swizzles
		case LinearF:
			out.Claims.Linear = &r.linear
		}
	}
	return out, nil
}

// WriteCertificate writes a certificate as JSON.
func WriteCertificate(w io.Writer, c *Certificate) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
