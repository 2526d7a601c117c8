package bankmap

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"shmoo/smem"
)

// Lanes is a set of lanes. Its text lists lanes and ranges, "0-7, 16"; its JSON form is an array of lane numbers.
type Lanes smem.Mask

// String lists the lanes in ascending order, runs of three or more as a range; it is "none" for the empty set.
func (l Lanes) String() string {
	if l == 0 {
		return "none"
	}
	return strings.Join(l.runs(), ", ")
}

// Short lists the lanes like String without spaces.
func (l Lanes) Short() string { return strings.Join(l.runs(), ",") }

func (l Lanes) runs() []string {
	var parts []string
	for lane := 0; lane < smem.MaxLanes; lane++ {
		if !smem.Mask(l).Has(lane) {
			continue
		}
		end := lane
		for end+1 < smem.MaxLanes && smem.Mask(l).Has(end+1) {
			end++
		}
		switch end - lane {
		case 0:
			parts = append(parts, strconv.Itoa(lane))
		case 1:
			parts = append(parts, strconv.Itoa(lane), strconv.Itoa(end))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", lane, end))
		}
		lane = end
	}
	return parts
}

// Count returns the number of lanes.
func (l Lanes) Count() int { return smem.Mask(l).Count() }

// List returns the lanes in ascending order.
func (l Lanes) List() []int {
	list := make([]int, 0, l.Count())
	for m := smem.Mask(l); m != 0; m &= m - 1 {
		list = append(list, m.Lowest())
	}
	return list
}

// MarshalJSON writes the lanes as an array of numbers.
func (l Lanes) MarshalJSON() ([]byte, error) { return json.Marshal(l.List()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Lanes) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*l = 0
	for _, lane := range list {
		if lane < 0 || lane >= smem.MaxLanes {
			return fmt.Errorf("lane %d: want 0 to %d", lane, smem.MaxLanes-1)
		}
		*l |= 1 << uint(lane)
	}
	return nil
}
