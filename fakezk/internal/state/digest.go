package state

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
)

// A Digest is a checksum of the tree after a transaction.
type Digest struct{ Zxid, Value int64 }

// At most mostDigests checksums are kept: those after transactions with a zxid that is a multiple
// of digestInterval.
const (
	digestInterval = 128
	mostDigests    = 1024
)

// A digest is the sum of the checksums of all nodes but those below /zookeeper.
type digest struct {
	on   bool // see Config.Digests
	sum  int64
	kept []Digest
}

// Digests returns the kept digests, oldest first, none without Config.Digests. It must not be
// written to; a later Apply does not change it.
//
// Source: DataTree.logZxidDigest.
func (s *Store) Digests() []Digest { return s.tree.digest.kept }

func (d *digest) keep(zxid int64) {
	if !d.on || zxid%digestInterval != 0 {
		return
	}
	if len(d.kept) >= mostDigests {
		d.kept = d.kept[1:]
	}
	d.kept = append(d.kept, Digest{Zxid: zxid, Value: d.sum})
}

// update brings the digest up to date with a node at path that is new or has changed.
func (d *digest) update(path string, n *node) {
	if !d.on || strings.HasPrefix(path, systemRoot+"/") {
		return
	}
	d.sum -= int64(n.digest)
	n.digest = n.checksum(path)
	d.sum += int64(n.digest)
}

// remove takes a node out of the digest.
func (d *digest) remove(n *node) { d.sum -= int64(n.digest) }

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
