package launch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// readInto fills b with the contents of a file: the data of a NumPy .npy file, or the bytes as they are. The file must hold
// as many bytes as the buffer.
func readInto(path string, t *elemType, b []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(len(b))+maxNpyHeader+1))
	if err != nil {
		return err
	}
	if bytes.HasPrefix(data, npyMagic) {
		if data, err = npyData(data, t); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(data) != len(b) {
		return fmt.Errorf("%s: %d bytes of data, want the %d of the buffer", path, len(data), len(b))
	}
	copy(b, data)
	return nil
}

var npyMagic = []byte("\x93NUMPY")

const maxNpyHeader = 1 << 16

var npyDescr = regexp.MustCompile(`'descr':\s*'([<>|=])([a-zA-Z])(\d+)'`)

// npyData returns the data of a .npy file (NumPy format, versions 1 to 3) whose elements have the size of t.
func npyData(data []byte, t *elemType) ([]byte, error) {
	if len(data) < 12 {
		return nil, fmt.Errorf("npy header ends after %d bytes", len(data))
	}
	length, start := int(binary.LittleEndian.Uint16(data[8:])), 10
	if data[6] > 1 {
		length, start = int(binary.LittleEndian.Uint32(data[8:])), 12
	}
	if length > maxNpyHeader || start+length > len(data) {
		return nil, fmt.Errorf("npy header of %d bytes, want at most %d and all of it in the file", length, maxNpyHeader)
	}
	header := string(data[start : start+length])
	m := npyDescr.FindStringSubmatch(header)
	switch {
	case m == nil:
		return nil, fmt.Errorf("npy header without a plain element type: %.60s", strings.TrimSpace(header))
	case m[1] == ">":
		return nil, fmt.Errorf("npy elements are big endian, want little endian")
	case m[3] != fmt.Sprint(t.bytes):
		return nil, fmt.Errorf("npy elements of %s bytes, want %d", m[3], t.bytes)
	case strings.Contains(header, "'fortran_order': True"):
		return nil, fmt.Errorf("npy array in column-major order, want row-major")
	}
	return data[start+length:], nil
}
