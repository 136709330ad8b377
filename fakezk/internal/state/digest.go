package state

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
)

// A Digest is a checksum of the tree after a transaction.
type Digest struct{ Zxid, Value int64 }

// A Store keeps the digests of at most mostDigests transactions: those with a zxid that is a
// multiple of digestInterval.
const (
	digestInterval = 128
	mostDigests    = 1024
)

// Digests returns the kept digests, oldest first, none without Config.Digests. It must not be
// written to; a later Apply does not change it.
//
// Source: DataTree.logZxidDigest.
func (s *Store) Digests() []Digest { return s.digests }

func (s *Store) keepDigest(zxid int64) {
	if !s.cfg.Digests || zxid%digestInterval != 0 {
		return
	}
	if len(s.digests) >= mostDigests {
		s.digests = s.digests[1:]
	}
	s.digests = append(s.digests, Digest{Zxid: zxid, Value: s.sum})
}

// updateDigest brings the digest up to date with a node at path that is new or has changed.
func (s *Store) updateDigest(path string, n *node) {
	if !s.cfg.Digests || strings.HasPrefix(path, systemRoot+"/") {
		return
	}
	s.sum -= int64(n.digest)
	n.digest = n.checksum(path)
	s.sum += int64(n.digest)
}

// removed takes a node out of the digest.
func (s *Store) removed(n *node) { s.sum -= int64(n.digest) }

// checksum is a CRC of the path, the data and the stat as a real server stores it.
//
// Source: DigestCalculator.calculateDigest.
func (n *node) checksum(path string) uint32 {
	if path == "/" {
		path = ""
	}
	stat := make([]byte, 0, 60)
	for _, v := range []int64{n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime} {
		stat = binary.BigEndian.AppendUint64(stat, uint64(v))
	}
	for _, v := range []int32{n.version, n.counter, n.aversion} {
		stat = binary.BigEndian.AppendUint32(stat, uint32(v))
	}
	stat = binary.BigEndian.AppendUint64(stat, uint64(n.storedOwner()))
	sum := crc32.ChecksumIEEE([]byte(path))
	sum = crc32.Update(sum, crc32.IEEETable, n.data)
	return crc32.Update(sum, crc32.IEEETable, stat)
}

// storedOwner is the ephemeral owner in a real server's store, where it also marks containers and
// TTL nodes.
//
// Source: EphemeralType, EphemeralTypeEmulate353.
func (n *node) storedOwner() int64 {
	switch n.kind {
	case KindContainer:
		return math.MinInt64
	case KindTTL:
		return -1<<56 | n.ttlMs
	}
	return n.owner
}
