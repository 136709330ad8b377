package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A reader takes jute fields off the front of a record. It keeps the first error in err; every
// later read returns a zero value, so a decoder reads all its fields and looks at err once.
type reader struct {
	rest       []byte
	err        error
	fromServer bool // strings are as appendText writes them
}

// fail keeps the first error.
func (r *reader) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %s", ErrMalformed, field, fmt.Sprintf(format, args...))
	}
	r.rest = nil
}

// take returns the next n bytes as a part of the frame, or nil after a failure.
func (r *reader) take(field string, n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.rest) {
		r.fail(field, "needs %d bytes, %d are left", n, len(r.rest))
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) bool(field string) bool {
	b := r.take(field, 1)
	return b != nil && b[0] != 0
}

func (r *reader) int32(field string) int32 {
	b := r.take(field, 4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (r *reader) int64(field string) int64 {
	b := r.take(field, 8)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// span reads a length and that many bytes of the frame. null reports length -1, or a failure.
func (r *reader) span(field string) (b []byte, null bool) {
	n := r.int32(field)
	switch {
	case r.err != nil:
		return nil, true
	case n == -1:
		return nil, true
	case n < -1:
		r.fail(field, "length %d", n)
		return nil, true
	}
	return r.take(field, int(n)), false
}

// string reads a string; a null one is "".
func (r *reader) string(field string) string {
	b, _ := r.span(field)
	return r.text(b)
}

// nullable reads a string; a null one is proto.Null.
func (r *reader) nullable(field string) string {
	b, null := r.span(field)
	if null {
		return proto.Null
	}
	return r.text(b)
}

func (r *reader) text(b []byte) string {
	if r.fromServer {
		b = joinSurrogates(b)
	}
	return Text(b)
}

// path reads the path of a request; a null one is proto.NullPath.
func (r *reader) path() string { return r.nullable("path") }

// buffer reads a copy of a byte slice; a null one is nil.
func (r *reader) buffer(field string) []byte {
	b, null := r.span(field)
	if null || r.err != nil {
		return nil
	}
	return append([]byte{}, b...)
}

// count reads the length of a vector and refuses one that cannot fit in the bytes
// left, if each entry takes at least minSize bytes.
func (r *reader) count(field string, minSize int) (n int, null bool) {
	c := r.int32(field)
	switch {
	case r.err != nil || c == -1:
		return 0, true
	case c < -1:
		return 0, false
	case int(c) > len(r.rest)/minSize:
		r.fail(field, "%d entries cannot fit in %d bytes", c, len(r.rest))
		return 0, true
	}
	return int(c), false
}

func (r *reader) strings(field string) []string { return r.list(field, r.string) }

// paths reads the paths of a request; a null one is proto.NullPath.
func (r *reader) paths(field string) []string { return r.list(field, r.nullable) }

func (r *reader) list(field string, entry func(field string) string) []string {
	n, null := r.count(field, 4)
	if null {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, entry(field))
	}
	return list
}

// openACL is the list of nearly every create, and openEntry its entry in bytes. Every
// such list is decoded as this one slice.
var (
	openACL   = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	openEntry = []byte("\x00\x00\x00\x1f\x00\x00\x00\x05world\x00\x00\x00\x06anyone")
)

func (r *reader) acls() []proto.ACL {
	n, null := r.count("acl", 12)
	if null {
		return nil
	}
	if rest, ok := bytes.CutPrefix(r.rest, openEntry); ok && n == 1 {
		r.rest = rest
		return openACL
	}
	list := make([]proto.ACL, 0, n)
	for range n {
		list = append(list, proto.ACL{
			Perms: r.int32("acl.perms"), Scheme: r.string("acl.scheme"), ID: r.nullable("acl.id"),
		})
	}
	return list
}

func (r *reader) stat() proto.Stat {
	s := r.statHead()
	s.DataLength = r.int32("stat.dataLength")
	s.NumChildren = r.int32("stat.numChildren")
	s.Pzxid = r.int64("stat.pzxid")
	return s
}

// statHead reads what the stat of a reply and that of a snapshot begin with.
func (r *reader) statHead() proto.Stat {
	var s proto.Stat
	s.Czxid = r.int64("stat.czxid")
	s.Mzxid = r.int64("stat.mzxid")
	s.Ctime = r.int64("stat.ctime")
	s.Mtime = r.int64("stat.mtime")
	s.Version = r.int32("stat.version")
	s.Cversion = r.int32("stat.cversion")
	s.Aversion = r.int32("stat.aversion")
	s.EphemeralOwner = r.int64("stat.ephemeralOwner")
	return s
}
