package html

import (
	"fmt"
	"math"
	"strconv"

	"shmoo/report"
	"shmoo/smem"
)

func tally(t *report.Tally) row {
	x := row{Requests: grouped(t.Requests), Coverage: coverage(t)}
	if t.Requests == 0 && t.Coverage() < 1 {
		x.Wavefronts, x.Ideal, x.Conflicts, x.Ways = "?", "?", "?", "?"
		return x
	}
	x.Known = t.Requests > 0
	x.Wavefronts, x.Ideal, x.Conflicts = grouped(t.Wavefronts), grouped(t.Ideal), grouped(t.Conflicts())
	x.Ways = strconv.Itoa(t.Ways)
	return x
}

// grouped writes a count with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// verdict returns the class of the figures: conflicts are bad, none are good only where everything is known.
func verdict(t *report.Tally) string {
	switch {
	case t.Conflicts() > 0:
		return "bad"
	case t.Coverage() == 1:
		return "good"
	}
	return ""
}

// coverage rounds down, so that only full coverage reads 100 %.
func coverage(t *report.Tally) string { return fmt.Sprintf("%d %%", int(t.Coverage()*100)) }

// percent returns n of all in percent, with the precision that a bar can show.
func percent(n, all int64) string {
	if all == 0 {
		return "0"
	}
	return strconv.FormatFloat(math.Round(1000*float64(n)/float64(all))/10, 'f', -1, 64)
}

// heat returns the share of n from 0 to 1, or "" for none. The root keeps the middle of the field visible beside a site that
// is far ahead.
func heat(n, most int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatFloat(math.Round(1000*math.Sqrt(float64(n)/float64(most)))/1000, 'f', -1, 64)
}

// factor says how far the wavefronts are from the ideal.
func factor(t *report.Tally) string {
	switch {
	case t.Ideal == 0:
		return "nothing was counted"
	case t.Conflicts() == 0 && t.Coverage() < 1:
		return "of what is known"
	case t.Conflicts() == 0:
		return "as few as can be"
	}
	return fmt.Sprintf("%.2f times the ideal", float64(t.Wavefronts)/float64(t.Ideal))
}

func missing(t *report.Tally) string {
	switch {
	case t.Faulted > 0:
		return count(t.Faulted, "request") + " at fault"
	case len(t.Unresolved) > 0:
		return count(t.UnresolvedRequests(), "request") + " not known"
	}
	return "every request is known"
}

// caveat says what about a site's numbers is not as usual.
func caveat(s *report.Site) string {
	t := &s.Tally
	switch {
	case s.Bounds != nil && t.Faulted == 0:
		text := fmt.Sprintf("%s not resolved, %s to %s wavefronts", count(t.UnresolvedRequests(), "request"), grouped(s.Bounds.Low),
			grouped(s.Bounds.High))
		if s.Bounds.Open {
			text += " and more"
		}
		return text
	case t.Faulted > 0:
		return count(t.Faulted, "request") + " at fault"
	case len(t.Unresolved) > 0:
		return count(t.UnresolvedRequests(), "request") + " not resolved"
	case t.Requests > 0 && t.Basis != smem.Measured:
		return t.Basis.String()
	case t.Requests == 0:
		return "never runs"
	}
	return ""
}

func basis(t *report.Tally) string {
	meaning := map[smem.Basis]string{
		smem.Measured:   "The rules behind these numbers were measured on a device of this generation.",
		smem.Documented: "The rules behind these numbers are documented by the vendor for this generation.",
		smem.Assumed:    "Some rules behind these numbers are assumed from a neighbouring generation.",
		smem.Estimated:  "Some rules behind these numbers are estimates: the exact rule is not known.",
	}
	return meaning[t.Basis]
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", grouped(n), noun)
}
