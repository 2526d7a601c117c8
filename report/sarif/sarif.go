// Package sarif writes reports as SARIF 2.1.0, the form that code review tools read: GitHub code scanning, Azure DevOps,
// editors.
//
//	shmoo check kernel.cu --format sarif -o kernel.sarif
//
// There is a rule per diagnostic, named by its id ("smem/conflict", "smem/fault"), and a result per diagnostic. Every site
// with conflicts has a result, the worst ones with the reason and the fix; the instructions of one line share it. Sites that
// could not be resolved have one too: a review must not take them for clean. Fixes that come with edits are SARIF fixes, the
// others are part of the message.
//
// A result's fingerprint comes from what the access is, not from where it stands (see report.Key), so a finding keeps its
// identity when lines move.
//
// Columns are converted to UTF-16 code units where Options.Lines gives the source line.
//
// Limits: 5,000 results, which is what GitHub shows; the most expensive are kept and a notification counts the others.
// Texts are cut at 1,024 characters. The source text is not embedded.
package sarif

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"shmoo/diag"
	"shmoo/report"
)

// The limits of GitHub code scanning on an upload; it rejects or cuts what is larger.
const (
	maxResults = 5000
	maxText    = 1024 // characters of a message
	maxFixes   = 16   // alternatives of one result
)

// The document as far as it is used here; field names are those of the standard.
type (
	document struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool              tool              `json:"tool"`
		Invocations       []invocation      `json:"invocations"`
		AutomationDetails automation        `json:"automationDetails"`
		ColumnKind        string            `json:"columnKind"`
		Results           []result          `json:"results"`
		Properties        map[string]string `json:"properties,omitempty"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	}
	rule struct {
		ID                   string         `json:"id"`
		Name                 string         `json:"name,omitempty"`
		ShortDescription     text           `json:"shortDescription"`
		FullDescription      *text          `json:"fullDescription,omitempty"`
		Help                 *text          `json:"help,omitempty"`
		DefaultConfiguration configuration  `json:"defaultConfiguration"`
		Properties           ruleProperties `json:"properties"`
	}
	ruleProperties struct {
		Tags []string `json:"tags"`
	}
	configuration struct {
		Level string `json:"level"`
	}
	text struct {
		Text string `json:"text"`
	}
	automation struct {
		ID string `json:"id"`
	}
	invocation struct {
		ExecutionSuccessful bool           `json:"executionSuccessful"`
		Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
	}
	notification struct {
		Level   string `json:"level"`
		Message text   `json:"message"`
	}
	result struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             text              `json:"message"`
		Locations           []location        `json:"locations"`
		RelatedLocations    []location        `json:"relatedLocations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		Fixes               []fix             `json:"fixes,omitempty"`
		Properties          *numbers          `json:"properties,omitempty"`
	}
	location struct {
		ID               int       `json:"id,omitempty"`
		PhysicalLocation physical  `json:"physicalLocation"`
		LogicalLocations []logical `json:"logicalLocations,omitempty"`
		Message          *text     `json:"message,omitempty"`
	}
	physical struct {
		ArtifactLocation artifact `json:"artifactLocation"`
		Region           *region  `json:"region,omitempty"`
	}
	artifact struct {
		URI string `json:"uri"`
	}
	region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	logical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	fix struct {
		Description     text             `json:"description"`
		ArtifactChanges []artifactChange `json:"artifactChanges"`
	}
	artifactChange struct {
		ArtifactLocation artifact      `json:"artifactLocation"`
		Replacements     []replacement `json:"replacements"`
	}
	replacement struct {
		DeletedRegion   region `json:"deletedRegion"`
		InsertedContent text   `json:"insertedContent"`
	}
	// numbers are the tally of a result's site.
	numbers struct {
		Requests   int64  `json:"requests"`
		Wavefronts int64  `json:"wavefronts"`
		Ideal      int64  `json:"ideal"`
		Conflicts  int64  `json:"conflicts"`
		Unresolved int64  `json:"unresolved"`
		Basis      string `json:"basis"`
	}
)

const (
	schemaURI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	version   = "2.1.0"
)

// Options say what the writer may look at.
type Options struct {
	// Lines returns a line of a source; nil leaves columns as the bytes they count.
	Lines func(diag.Pos) (string, bool)
}

// Write writes the report as one indented SARIF document with one run.
func Write(w io.Writer, r *report.Report, o Options) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(o.convert(r))
}

func (o *Options) convert(r *report.Report) *document {
	found := findings(r)
	kept, notes := limit(found)
	rules := rulesOf(kept)
	out := run{
		Tool:              tool{Driver: driver{Name: "Shmoo", Rules: rules.list}},
		Invocations:       []invocation{{ExecutionSuccessful: true, Notifications: notes}},
		AutomationDetails: automation{ID: "shmoo/" + r.Arch + "/" + r.Kernel + "/"},
		ColumnKind:        "utf16CodeUnits",
		Results:           []result{},
		Properties:        map[string]string{"arch": r.Arch},
	}
	if r.Launch != nil {
		out.Properties["launch"] = r.Launch.String()
	}
	for i := range kept {
		f := &kept[i]
		out.Results = append(out.Results, o.result(f, r.Kernel, rules.index[f.d.ID]))
	}
	return &document{Schema: schemaURI, Version: version, Runs: []run{out}}
}

// levels are the SARIF names of the severities.
var levels = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Note: "note"}

func (o *Options) result(f *finding, kernel string, index int) result {
	d := f.d
	message := d.Message
	for _, x := range d.Fixes {
		message += "\nfix: " + x.Message
	}
	out := result{
		RuleID: d.ID, RuleIndex: index, Level: levels[d.Severity],
		Message:   text{cut(message)},
		Locations: []location{o.locate(d.Span)},
		// GitHub matches findings by primaryLocationLineHash alone, and makes one from the source line where it is missing.
		PartialFingerprints: map[string]string{"shmooAccess/v1": f.print, "primaryLocationLineHash": f.print},
	}
	if kernel != "" {
		out.Locations[0].LogicalLocations = []logical{{Name: kernel, Kind: "function"}}
	}
	for i, rel := range d.Related {
		l := o.locate(rel.Span)
		l.ID, l.Message = i+1, &text{cut(rel.Message)}
		out.RelatedLocations = append(out.RelatedLocations, l)
	}
	for _, x := range d.Fixes[:min(len(d.Fixes), maxFixes)] {
		if changes := o.changes(x.Edits); len(changes) > 0 {
			out.Fixes = append(out.Fixes, fix{Description: text{cut(x.Message)}, ArtifactChanges: changes})
		}
	}
	if f.site != nil {
		t := &f.site.Tally
		out.Properties = &numbers{t.Requests, t.Wavefronts, t.Ideal, t.Conflicts(), t.UnresolvedRequests(), t.Basis.String()}
	}
	return out
}

// changes groups edits by file, in the order in which the files come up.
func (o *Options) changes(edits []diag.Edit) []artifactChange {
	var changes []artifactChange
	at := map[string]int{}
	for _, e := range edits {
		if !e.Span.IsValid() {
			continue
		}
		i, ok := at[e.Span.File]
		if !ok {
			i = len(changes)
			at[e.Span.File] = i
			changes = append(changes, artifactChange{ArtifactLocation: artifact{uri(e.Span.File)}})
		}
		changes[i].Replacements = append(changes[i].Replacements,
			replacement{DeletedRegion: o.edited(e.Span), InsertedContent: text{e.NewText}})
	}
	return changes
}

// edited returns the region of an edit; one that inserts ends where it starts.
func (o *Options) edited(s diag.Span) region {
	s.Col = max(1, s.Col)
	start, end := o.columns(s)
	return region{StartLine: s.Line, StartColumn: start, EndColumn: end}
}

func (o *Options) locate(s diag.Span) location {
	l := location{PhysicalLocation: physical{ArtifactLocation: artifact{uri(s.File)}}}
	if !s.IsValid() {
		return l
	}
	l.PhysicalLocation.Region = &region{StartLine: s.Line}
	if s.Col > 0 {
		start, end := o.columns(s)
		l.PhysicalLocation.Region.StartColumn = start
		if end > start {
			l.PhysicalLocation.Region.EndColumn = end
		}
	}
	return l
}

// columns returns where a span starts and ends in UTF-16 code units, counted from 1.
func (o *Options) columns(s diag.Span) (start, end int) {
	start, end = s.Col, s.Col+s.Len
	if o.Lines == nil {
		return start, end
	}
	line, ok := o.Lines(s.Pos)
	if !ok || end-1 > len(line) {
		return start, end
	}
	units := func(text string) int { return len(utf16.Encode([]rune(text))) }
	start = 1 + units(line[:s.Col-1])
	return start, start + units(line[s.Col-1:end-1])
}

// uri returns a file name as a URI reference: relative where the name is, with a scheme where it is absolute.
func uri(file string) string {
	if file == "" {
		return "unknown"
	}
	path := filepath.ToSlash(file)
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}

// cut bounds a text in characters.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText-3]) + "..."
	}
	return s
}
