package cubin

import (
	"bytes"
	"strconv"
	"strings"
)

// Static archives: the common format of System V and GNU with long names in a "//" member, and BSD's names inside the
// member ("#1/length"). Members that are ELF files, fatbins or cubins are listed, others passed over.

var (
	archiveMagic = []byte("!<arch>\n")
	thinMagic    = []byte("!<thin>\n")
)

const memberHeaderSize = 60

func (s *scanner) scanArchive(g region, head []byte) error {
	if bytes.HasPrefix(head, thinMagic) {
		return s.fail(&Error{Entry: -1, Offset: 0, Err: kindError{ErrUnrecognised,
			"thin archive: its members are in other files"}}, g)
	}
	var longNames []byte
	members := 0
	var h [memberHeaderSize]byte
	for off := int64(len(archiveMagic)); off < g.size; {
		if g.size-off < memberHeaderSize {
			return s.fail(formatError("", off, "member header: got %d bytes, want %d", g.size-off, memberHeaderSize), g)
		}
		if members++; members > s.limits.MaxMembers {
			return s.fail(limitError("", off, "more than %d members", s.limits.MaxMembers), g)
		}
		if err := s.read(g, off, h[:]); err != nil {
			return err
		}
		if h[58] != '`' || h[59] != '\n' {
			return s.fail(formatError("", off+58, "member header end: got % x, want 60 0a", h[58:60]), g)
		}
		size, err := strconv.ParseInt(strings.TrimRight(string(h[48:58]), " "), 10, 64)
		body := off + memberHeaderSize
		if err != nil || size < 0 || size > g.size-body {
			return s.fail(formatError("", off+48, "member size: got %q, archive has %d bytes left",
				strings.TrimRight(string(h[48:58]), " "), g.size-body), g)
		}
		name := strings.TrimRight(string(h[:16]), " ")
		m := region{offset: g.offset + body, size: size}
		off = body + size + size&1
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"):
			continue
		case name == "//":
			if size > maxLongNames {
				return s.fail(limitError("", body, "member names of %d bytes, limit %d", size, maxLongNames), g)
			}
			longNames = make([]byte, size)
			if err := s.read(g, body, longNames); err != nil {
				return err
			}
			continue
		}
		m, err = s.named(m, name, longNames)
		if err != nil {
			return err
		}
		if err := s.scanMember(m); err != nil {
			return err
		}
	}
	return nil
}

const maxLongNames = 64 << 20

// named resolves the name of a member and cuts off a name inside it.
func (s *scanner) named(m region, name string, longNames []byte) (region, error) {
	if n, ok := strings.CutPrefix(name, "#1/"); ok {
		size, err := strconv.ParseInt(n, 10, 64)
		if err != nil || size < 0 || size > m.size || size > maxName {
			return m, s.fail(formatError("", m.offset, "member name length %q", n), m)
		}
		b := make([]byte, size)
		if err := s.read(m, 0, b); err != nil {
			return m, err
		}
		m.offset += size
		m.size -= size
		m.member = untilNUL(b)
		return m, nil
	}
	if n, ok := strings.CutPrefix(name, "/"); ok {
		off, err := strconv.ParseInt(n, 10, 64)
		if err != nil || off < 0 || off >= int64(len(longNames)) {
			return m, s.fail(formatError("", m.offset, "member name offset %q: table has %d bytes", n, len(longNames)), m)
		}
		b := longNames[off:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[:i]
		}
		if len(b) > maxName {
			b = b[:maxName]
		}
		m.member = strings.TrimSuffix(string(b), "/")
		return m, nil
	}
	m.member = strings.TrimSuffix(name, "/")
	return m, nil
}

func (s *scanner) scanMember(m region) error {
	head := make([]byte, min(m.size, 256))
	if err := s.read(m, 0, head); err != nil {
		return err
	}
	switch sniff(head) {
	case CarrierHost:
		if head[4] != 2 || head[5] != 1 { // an object of another machine
			return nil
		}
		return s.scanHost(m)
	case CarrierFatbin:
		return s.scanFatbins(m)
	case CarrierCubin:
		return s.addWhole(m, KindELF, head)
	case CarrierPTX:
		return s.addWhole(m, KindPTX, head)
	}
	return nil
}
