package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/smem"
)

// A rawRequest is a request given as addresses on the command line.
type rawRequest struct {
	op, addr, active string
	bytes            int
}

func (r *rawRequest) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.addr, "addr", "", "byte offsets, one per lane from lane 0, instead of an input")
	cmd.Flags().StringVar(&r.op, "op", "load", "operation of --addr: load, store, ldmatrix, stmatrix, atomic, red, cas, ...")
	cmd.Flags().IntVar(&r.bytes, "bytes", 4, "bytes per lane of --addr: 1, 2, 4, 8 or 16; for matrices 4 per matrix")
	cmd.Flags().StringVar(&r.active, "active", "", "active lanes of --addr as a hex mask (default: every lane with an address)")
}

// given reports whether the user gave addresses.
func (r *rawRequest) given() bool { return r.addr != "" }

// request parses the flags for a warp of the given number of lanes.
func (r *rawRequest) request(lanes int) (*smem.Request, error) {
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
		v, err := strconv.ParseUint(f, 0, 32)
		if err != nil {
			return nil, usagef("--addr: lane %d: %q is not a byte offset", lane, f)
		}
		req.Addr[lane] = uint32(v)
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
