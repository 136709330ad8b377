package state

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// DigestID returns the identity that an auth request with scheme "digest" adds. Any
// data is valid: the id is the part before the first ':' and the hash of all of it.
//
// Source: DigestAuthenticationProvider.generateDigest.
func DigestID(data []byte) proto.ID {
	user, _, _ := bytes.Cut(data, []byte{':'})
	sum := sha1.Sum(data)
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return proto.ID{Scheme: "digest", ID: string(user) + ":" + hash}
}

// Identities are the identities of a connection, in the order of a ConcurrentHashMap. In this order
// whoAmI lists them and an "auth" entry of an ACL expands. The zero value is empty.
//
// Source: ServerCnxn.addAuthInfo; Id.hashCode as jute generates it.
type Identities struct {
	set   concurrentSet[proto.ID]
	bytes int
	list  []proto.ID // nil if it has to be made anew
}

// Add adds an identity, unless it is there.
func (ids *Identities) Add(id proto.ID) {
	before := ids.set.len()
	ids.set.add(id, 37*(37*17+JavaHash(id.Scheme))+JavaHash(id.ID))
	if ids.set.len() > before {
		ids.bytes += len(id.Scheme) + len(id.ID)
		ids.list = nil
	}
}

// Bytes is the length of all identities together.
func (ids *Identities) Bytes() int { return ids.bytes }

// List returns the identities. It must not be written to; a later Add does not change it.
func (ids *Identities) List() []proto.ID {
	if ids.list == nil {
		ids.list = slices.AppendSeq(make([]proto.ID, 0, ids.set.len()), ids.set.all())
	}
	return ids.list
}

// ipMatches reports whether an address lies in a range "a.b.c.d" or "a.b.c.d/bits".
func ipMatches(ipRange, address string) bool {
	want, bits, ok := parseIPRange(ipRange)
	if !ok {
		return false
	}
	got, ok := parseIPv4(address)
	return ok && (want^got)>>(32-bits) == 0
}

// parseIPRange parses as IPAuthenticationProvider.isValid does. bits is 32 for an
// address without "/bits".
func parseIPRange(s string) (address uint32, bits int, ok bool) {
	host, length, hasLength := strings.Cut(s, "/")
	bits = 32
	if hasLength {
		n, err := javaInt(length, 32)
		if err != nil || n < 0 || n > 32 {
			return 0, 0, false
		}
		bits = int(n)
	}
	address, ok = parseIPv4(host)
	return address, bits, ok
}

func parseIPv4(s string) (uint32, bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return 0, false
	}
	var address uint32
	for _, part := range parts {
		n, err := javaInt(part, 32)
		if err != nil || n < 0 || n > 255 {
			return 0, false
		}
		address = address<<8 | uint32(n)
	}
	return address, true
}

// javaInt parses a number as Integer.parseInt (32 bits) and Long.parseLong (64 bits) do.
// They accept the decimal digits of all scripts that are one char in Java.
func javaInt(s string, bits int) (int64, error) {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 || r > 0xffff || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitOf(r)
	}, s)
	return strconv.ParseInt(plain, 10, bits)
}

// digitOf returns the value of a decimal digit. Unicode has the digits of a script in
// a row, from 0 to 9.
func digitOf(r rune) rune {
	zero := r
	for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
		zero--
	}
	return r - zero
}
