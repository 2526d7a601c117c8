//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"shmoo/gpu"
)

// maxArgs bounds the arguments of a call: cuLaunchKernel has the most.
const maxArgs = 11

// A library is a loaded C library. It is never unloaded.
type library struct {
	path    string
	calls   []signature
	address []uintptr                                      // per call; 0 for an optional one that is missing
	invoke  func(address uintptr, args ...uintptr) uintptr // calls a C function
	explain func(l *library, status int) (name, text string)
}

// load opens the first of the files that opens and looks up every call. title names the library in errors.
func load(title string, files []string, calls []signature, explain func(*library, int) (string, string)) (*library, error) {
	var failures []error
	for _, path := range files {
		handle, err := openLibrary(path)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		return bind(title, path, calls, explain, func(name string) (uintptr, error) { return findSymbol(handle, name) })
	}
	return nil, &gpu.NoDriverError{Reason: title + " not found", Err: failures[0]}
}

// bind looks up every call of a library.
func bind(title, path string, calls []signature, explain func(*library, int) (string, string),
	find func(string) (uintptr, error)) (*library, error) {
	l := &library{path: path, calls: calls, address: make([]uintptr, len(calls)), explain: explain,
		invoke: func(address uintptr, args ...uintptr) uintptr {
			r, _, _ := purego.SyscallN(address, args...)
			return r
		}}
	for i, sig := range calls {
		address, err := find(sig.name)
		if err != nil && !sig.optional {
			return nil, &gpu.NoDriverError{Reason: fmt.Sprintf("%s in %s has no function %s, want a newer one",
				title, path, sig.name), Err: err}
		}
		if err == nil {
			l.address[i] = address
		}
	}
	return l, nil
}

// has reports whether the library has an optional call.
func (l *library) has(c call) bool { return l.address[c] != 0 }

// call makes a call and returns a *gpu.CallError when its status is not 0.
func (l *library) call(c call, args ...any) error {
	status, err := l.status(c, args...)
	if err != nil || status == 0 {
		return err
	}
	name, text := l.explain(l, status)
	return &gpu.CallError{Call: l.calls[c].name, Code: status, Name: name, Text: text}
}

// status makes a call and returns its status. It returns an error when the call could not be made.
func (l *library) status(c call, args ...any) (int, error) {
	word, err := l.raw(c, args...)
	return int(int32(word)), err
}

// raw makes a call and returns the word it returns.
func (l *library) raw(c call, args ...any) (uintptr, error) {
	sig := &l.calls[c]
	if !l.has(c) {
		return 0, fmt.Errorf("%s in %s: %w", sig.name, l.path, errors.ErrUnsupported)
	}
	if len(args) != len(sig.args) {
		return 0, fmt.Errorf("%s: got %d arguments, want %d", sig.name, len(args), len(sig.args))
	}
	var words [maxArgs]uintptr
	var pinner runtime.Pinner
	defer pinner.Unpin()
	for i, arg := range args {
		if !convert(&words[i], sig.args[i], arg, &pinner) {
			return 0, fmt.Errorf("%s: argument %d is a %T, want kind %c", sig.name, i, arg, sig.args[i])
		}
	}
	return l.invoke(l.address[c], words[:len(args)]...), nil
}

// convert turns an argument of the given kind into the word that is passed. What it points to is pinned.
func convert(word *uintptr, kind byte, arg any, pinner *runtime.Pinner) bool {
	switch v := arg.(type) {
	case int32:
		*word = uintptr(v)
		return kind == 'i'
	case uint32:
		*word = uintptr(v)
		return kind == 'u'
	case uint64:
		*word = uintptr(v)
		return kind == 'z'
	case string:
		text := append([]byte(v), 0)
		pinner.Pin(&text[0])
		*word = uintptr(unsafe.Pointer(&text[0]))
		return kind == 's'
	case unsafe.Pointer:
		if v != nil {
			pinner.Pin(v)
		}
		*word = uintptr(v)
		return kind == 'p'
	}
	return false
}

// pointer returns the address of v for an argument of kind p. The call pins it; pointers inside v are the caller's to pin.
func pointer[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// bytesOf returns the address of a slice's first byte, or nil for an empty slice.
func bytesOf(p []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p)) }

// text returns the bytes of p up to the first NUL.
func text(p []byte) string {
	for i, b := range p {
		if b == 0 {
			return string(p[:i])
		}
	}
	return string(p)
}

// maxText bounds a C string, in bytes.
const maxText = 1 << 16

// textAt returns the C string at an address that a library returned, at most maxText bytes of it.
func textAt(address uintptr) string {
	if address == 0 {
		return ""
	}
	// The memory is the library's: the address is no Go pointer that could move, and go vet has no form for it.
	start := *(*unsafe.Pointer)(unsafe.Pointer(&address))
	for n := range maxText {
		if *(*byte)(unsafe.Add(start, n)) == 0 {
			return string(unsafe.Slice((*byte)(start), n))
		}
	}
	return string(unsafe.Slice((*byte)(start), maxText))
}
