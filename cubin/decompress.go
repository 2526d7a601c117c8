package cubin

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxRatio is the most that each format can expand one byte to: LZ4 spends a byte on 255 bytes of match, zstd three
// bytes of block header and one byte of content on a block of up to 128 KiB.
var maxRatio = [...]int64{Stored: 1, LZ4: 255, Zstd: 128 << 10 / 4}

// decompress fills plain, whose length the header states, from stored.
func decompress(c Compression, plain, stored []byte) error {
	var n int
	var err error
	switch c {
	case LZ4:
		n, err = lz4.UncompressBlock(stored, plain)
	case Zstd:
		n, err = unzstd(plain, stored)
	default:
		return fmt.Errorf("unknown compression %d", c)
	}
	if err != nil {
		return err
	}
	if n != len(plain) {
		return fmt.Errorf("got %d bytes, want %d", n, len(plain))
	}
	return nil
}

// zstdReaders hold decoders with their tables, each used by one goroutine at a time.
var zstdReaders = sync.Pool{New: func() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil { // only for options out of range
		return err
	}
	return r
}}

// unzstd decodes into plain and never beyond it.
func unzstd(plain, stored []byte) (int, error) {
	v := zstdReaders.Get()
	r, ok := v.(*zstd.Decoder)
	if !ok {
		return 0, v.(error)
	}
	defer zstdReaders.Put(r)
	out, err := r.DecodeAll(stored, plain[:0:len(plain)])
	return len(out), err
}
