package wire

import (
	"os"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// snapshot is one of a ZooKeeper 3.8.0.
const snapshot = "../../tree/testdata/datadir/version-2/snapshot.9"

func TestSnapshotIsRefusedWhereverItIsCutOff(t *testing.T) {
	data, err := os.ReadFile(snapshot)
	check.OK(t, err)
	whole, err := DecodeSnapshot(data)
	check.OK(t, err)
	check.Equal(t, whole.Nodes[0].Path, "", "the root comes first")
	const more = 5 + 8 + 4 + 8 + 8 + 5 // the end mark; a digest with its zxid, checksum and mark
	for n := range len(data) - more {
		if _, err := DecodeSnapshot(data[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a whole snapshot", n, len(data))
		}
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	data, err := os.ReadFile(snapshot)
	check.OK(f, err)
	f.Add(data)
	f.Add(data[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := DecodeSnapshot(data); err == nil && len(s.Nodes) > len(data) {
			t.Errorf("%d nodes of %d bytes", len(s.Nodes), len(data))
		}
	})
}
