package sass

import "errors"

// ErrTruncated is returned for fewer than Size bytes.
var ErrTruncated = errors.New("sass: instruction shorter than 16 bytes")

// ErrArch is returned for a generation this package does not know.
var ErrArch = errors.New("sass: unknown architecture")

// ErrUnknown is returned for an encoding that no table row describes. The Inst that comes with it has Op OpInvalid and keeps the
// encoding, so a listing can go on.
var ErrUnknown = errors.New("sass: unknown instruction")

// Decode decodes the instruction at the start of code. The error is nil, ErrTruncated, ErrArch or ErrUnknown.
func Decode(arch Arch, code []byte) (Inst, error) {
	return Inst{}, ErrUnknown
}
