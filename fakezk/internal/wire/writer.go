package wire

import (
	"encoding/binary"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// beginFrame leaves room for the length; endFrame fills it in.
func beginFrame(dst []byte) (out []byte, start int) {
	return append(dst, 0, 0, 0, 0), len(dst)
}

func endFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendInt32(dst []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(v))
}

func appendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v))
}

// appendString writes proto.Null as null.
func appendString(dst []byte, s string) []byte {
	if s == proto.NullPath {
		return appendInt32(dst, -1)
	}
	return append(appendInt32(dst, int32(len(s))), s...)
}

func appendBuffer(dst, b []byte) []byte {
	if b == nil {
		return appendInt32(dst, -1)
	}
	return append(appendInt32(dst, int32(len(b))), b...)
}

func appendStrings(dst []byte, list []string) []byte {
	if list == nil {
		return appendInt32(dst, -1)
	}
	dst = appendInt32(dst, int32(len(list)))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

// appendACLs writes strings with appendString as a client does, or with appendText as
// the server does.
func appendACLs(dst []byte, list []proto.ACL, appendString func([]byte, string) []byte) []byte {
	if list == nil {
		return appendInt32(dst, -1)
	}
	dst = appendInt32(dst, int32(len(list)))
	for _, a := range list {
		dst = appendInt32(dst, a.Perms)
		dst = appendString(dst, a.Scheme)
		dst = appendString(dst, a.ID)
	}
	return dst
}

func appendStat(dst []byte, s proto.Stat) []byte {
	dst = appendInt64(dst, s.Czxid)
	dst = appendInt64(dst, s.Mzxid)
	dst = appendInt64(dst, s.Ctime)
	dst = appendInt64(dst, s.Mtime)
	dst = appendInt32(dst, s.Version)
	dst = appendInt32(dst, s.Cversion)
	dst = appendInt32(dst, s.Aversion)
	dst = appendInt64(dst, s.EphemeralOwner)
	dst = appendInt32(dst, s.DataLength)
	dst = appendInt32(dst, s.NumChildren)
	return appendInt64(dst, s.Pzxid)
}
