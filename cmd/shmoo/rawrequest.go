package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/smem"
)

// A rawRequest is a request given as addresses on the command line.
type rawRequest struct {
	op, addr, active, window string
	bytes                    int
}

func (r *rawRequest) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.addr, "addr", "", "byte offsets, one per lane from lane 0, instead of an input")
	cmd.Flags().StringVar(&r.op, "op", "load", "operation of --addr: load, store, ldmatrix, stmatrix, atomic, red, cas, ...")
	cmd.Flags().IntVar(&r.bytes, "bytes", 4, "bytes per lane of --addr: 1, 2, 4, 8 or 16; for matrices 4 per matrix")
	cmd.Flags().StringVar(&r.active, "active", "", "active lanes of --addr as a hex mask (default: every lane with an address)")
	cmd.Flags().StringVar(&r.window, "window", "", "base of the shared window, where --addr gives generic addresses")
}

// given reports whether the user gave addresses.
func (r *rawRequest) given() bool { return r.addr != "" }

// windowBytes is the size of the shared window of the generic address space.
const windowBytes = 1 << 24

// base returns the window that --window gives, or nil.
func (r *rawRequest) base() (*smem.Window, error) {
	if r.window == "" {
		return nil, nil
	}
	base, err := strconv.ParseUint(r.window, 0, 64)
	if err != nil {
		return nil, usagef("--window %q is not an address", r.window)
	}
	return &smem.Window{Base: base, Size: windowBytes}, nil
}

// request parses the flags for a warp of the given number of lanes. Generic addresses come out as offsets.
func (r *rawRequest) request(lanes int) (*smem.Request, error) {
	window, err := r.base()
	if err != nil {
		return nil, err
	}
	op, ok := smem.ParseOp(r.op)
	if !ok {
		return nil, usagef("--op %q is not an operation: want load, store, ldmatrix, stmatrix, atomic, red, cas, "+
			"cp.async.ca or cp.async.cg", r.op)
	}
	req := &smem.Request{Op: op, Width: r.bytes, Addr: make([]uint32, lanes)}
	fields := strings.FieldsFunc(r.addr, func(c rune) bool { return c == ',' || c == ' ' })
	if len(fields) == 0 || len(fields) > lanes {
		return nil, usagef("--addr has %d addresses, want 1 to %d", len(fields), lanes)
	}
	for lane, f := range fields {
		if req.Addr[lane], err = parseAddress(f, window); err != nil {
			return nil, usagef("--addr: lane %d: %w", lane, err)
		}
	}
	req.Active = smem.Lanes(0, len(fields))
	if r.active != "" {
		mask, err := strconv.ParseUint(strings.TrimPrefix(r.active, "0x"), 16, 64)
		if err != nil || smem.Mask(mask)&^req.Active != 0 {
			return nil, usagef("--active %q: want a hex mask of lanes that have an address", r.active)
		}
		req.Active = smem.Mask(mask)
	}
	return req, nil
}

func parseAddress(text string, window *smem.Window) (uint32, error) {
	if window == nil {
		v, err := strconv.ParseUint(text, 0, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is not a byte offset", text)
		}
		return uint32(v), nil
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an address", text)
	}
	offset, ok := window.Offset(v)
	if !ok {
		return 0, fmt.Errorf("%#x is outside the shared window [%#x, %#x)", v, window.Base, window.Base+window.Size)
	}
	return offset, nil
}
