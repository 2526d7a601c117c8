package inspect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"shmoo/cubin"
	"shmoo/sass"
)

// DisasmOptions steers [Disassemble].
type DisasmOptions struct {
	Options
	SharedOnly bool // only accesses to shared memory and the lines that they come from
	// Source returns the text of a source file, to be shown beside the code, such as ReadSource; nil, or an error, shows
	// positions only. Paths come from the binary, so a function that opens them must not trust them.
	Source func(path string) ([]byte, error)
}

// Disassemble writes the machine code of a file in file order: address, instruction and, where it accesses shared
// memory, its width. Lines of the source stand before the code that comes from them, if the build kept line tables.
func Disassemble(ctx context.Context, w io.Writer, f *cubin.File, o DisasmOptions) error {
	out := newOrderedOutput(w)
	forget := context.AfterFunc(ctx, func() { out.stop(context.Cause(ctx)) })
	defer forget()
	src := &sources{read: o.Source, files: make(map[string][][]byte)}
	each := o.each()
	each.Failed = out.stop // wakes the parts that wait for the failed one
	return f.Each(ctx, each, func(i int, img *cubin.Image) error {
		d := disassembler{part: part{out: out, index: i}, src: src, sharedOnly: o.SharedOnly}
		if err := d.image(img, &o.Options); err != nil {
			return err
		}
		return d.part.end()
	})
}

// disassembler writes one image.
type disassembler struct {
	part       part
	src        *sources
	sharedOnly bool
	inst       sass.Inst
	frames     []cubin.Frame
	shown      []cubin.Frame // position of the last line comment
}

func (d *disassembler) image(img *cubin.Image, o *Options) error {
	for _, k := range img.Kernels {
		if !o.wants(k) {
			continue
		}
		if err := d.kernel(k); err != nil {
			return err
		}
	}
	return nil
}

func (d *disassembler) kernel(k *cubin.Kernel) error {
	arch, err := archOf(k)
	if err != nil {
		return err
	}
	lines, err := k.Lines()
	if err != nil {
		return err
	}
	d.shown = d.shown[:0]
	d.header(k)
	function := 0
	for pc := 0; pc+sass.Size <= len(k.Code); pc += sass.Size {
		for function < len(k.Functions) && int(k.Functions[function].Offset) <= pc {
			d.part.buf = fmt.Appendf(d.part.buf, "%s:\n", k.Functions[function].Name)
			function++
		}
		// An instruction that is not known is shown by its encoding, as the printer does.
		known := sass.DecodeWord(&d.inst, arch, wordAt(k.Code, pc)) == nil
		shared := known && isShared(&d.inst) && !d.inst.Guard.Never()
		if d.sharedOnly && !shared {
			continue
		}
		d.position(lines, uint32(pc))
		d.instruction(pc, shared)
		if err := d.part.flush(); err != nil {
			return err
		}
	}
	d.part.buf = append(d.part.buf, '\n')
	return nil
}

func (d *disassembler) header(k *cubin.Kernel) {
	b := d.part.buf
	b = fmt.Appendf(b, "// %s, %s: %d registers, %d bytes of shared memory, %d %s\n", k.Image.Target, k.Demangled(), k.Registers,
		k.SharedStatic, len(k.Params), plural(len(k.Params), "parameter"))
	d.part.buf = fmt.Appendf(b, "%s:\n", k.Name)
}

// textColumn is where the comment on an access begins, if the instruction leaves room.
const textColumn = 88

func (d *disassembler) instruction(pc int, shared bool) {
	b := d.part.buf
	start := len(b)
	b = append(b, "        /*"...)
	b = appendHex4(b, pc)
	b = append(b, "*/                   "...)
	b = d.inst.AppendText(b, uint64(pc))
	b = append(b, " ;"...)
	if shared {
		for len(b)-start < textColumn {
			b = append(b, ' ')
		}
		b = append(b, "  // shared, "...)
		b = strconv.AppendInt(b, int64(widthOf(&d.inst)), 10)
		b = append(b, " bytes a lane"...)
	}
	d.part.buf = append(b, '\n')
}

// appendHex4 appends at least four hexadecimal digits.
func appendHex4(b []byte, v int) []byte {
	for limit := 0x1000; limit > v && limit > 1; limit >>= 4 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(v), 16)
}

// position writes where an instruction comes from if that is not what was written last.
func (d *disassembler) position(lines *cubin.Lines, pc uint32) {
	d.frames = lines.AppendAt(d.frames[:0], pc)
	if len(d.frames) == 0 || equalFrames(d.frames, d.shown) {
		return
	}
	d.shown = append(d.shown[:0], d.frames...)
	b := append(d.part.buf, "        // "...)
	for i, f := range d.frames {
		if i > 0 {
			b = append(b, " < "...)
		}
		b = fmt.Appendf(b, "%s:%d", f.File, f.Line)
	}
	if text := d.src.line(d.frames[0].File, d.frames[0].Line); len(text) > 0 {
		b = append(append(b, "  "...), text...)
	}
	d.part.buf = append(b, '\n')
}

func equalFrames(a, b []cubin.Frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// maxSource is the longest source file that is read, in bytes.
const maxSource = 16 << 20

// ReadSource returns the text of a source file on this machine. It opens regular files of up to 16 MiB only: the paths
// are what a binary says, which may be a device that never ends.
func ReadSource(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSource {
		return nil, fmt.Errorf("%s: want a regular file of up to %d bytes", path, maxSource)
	}
	return os.ReadFile(path)
}

// sources keeps the lines of source files. A file that cannot be read has none.
type sources struct {
	read  func(path string) ([]byte, error)
	mu    sync.Mutex
	files map[string][][]byte
}

func (s *sources) line(path string, n int) []byte {
	if s.read == nil || n < 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, ok := s.files[path]
	if !ok {
		if text, err := s.read(path); err == nil {
			lines = bytes.Split(text, []byte("\n"))
		}
		s.files[path] = lines
	}
	if n > len(lines) {
		return nil
	}
	return bytes.TrimSpace(lines[n-1])
}
