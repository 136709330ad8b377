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

// DigestID is the identity that an auth request with scheme "digest" adds. Any
// bytes will do: the id is the part before the first ':' and the hash of the whole.
//
// Source: DigestAuthenticationProvider.generateDigest.
func DigestID(data []byte) proto.ID {
	user, _, _ := bytes.Cut(data, []byte{':'})
	sum := sha1.Sum(data)
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return proto.ID{Scheme: "digest", ID: string(user) + ":" + hash}
}

// AddIdentity returns ids and id, in the order in which whoAmI lists them and an
// "auth" entry of an ACL expands: that of a ConcurrentHashMap. ids must come from
// AddIdentity, or be of one element; it is not written to, and returned itself if
// id is in it already.
//
// Source: ServerCnxn.addAuthInfo; Id.hashCode as jute generates it.
func AddIdentity(ids []proto.ID, id proto.ID) []proto.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	var set concurrentSet[proto.ID]
	for set.grow(); set.full(len(ids)); set.grow() {
	}
	for _, known := range append(slices.Clip(ids), id) {
		set.add(known, 37*(37*17+javaHash(known.Scheme))+javaHash(known.ID))
	}
	return slices.AppendSeq(make([]proto.ID, 0, len(ids)+1), set.all())
}

// ipMatches says whether an address lies in a range "a.b.c.d" or "a.b.c.d/bits".
func ipMatches(ipRange, address string) bool {
	want, bits, ok := parseIPRange(ipRange)
	if !ok {
		return false
	}
	got, ok := parseIPv4(address)
	return ok && (want^got)>>(32-bits) == 0
}

// parseIPRange is IPAuthenticationProvider.isValid. An address without bits
// stands for itself.
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

// javaInt reads a number of so many bits as Integer.parseInt and Long.parseLong do,
// which take the decimal digits of all scripts as far as they are one char in Java.
func javaInt(s string, bits int) (int64, error) {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 || r > 0xffff || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitOf(r)
	}, s)
	return strconv.ParseInt(plain, 10, bits)
}

// digitOf is the value of a decimal digit: they come in rows of ten, from 0 to 9.
func digitOf(r rune) rune {
	zero := r
	for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
		zero--
	}
	return r - zero
}
