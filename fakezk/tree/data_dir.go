package tree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/txnlog"
	"github.com/zksim/zksim/fakezk/view"
)

// readDataDir reads the tree of a real server from its data directory, as that server would after a
// restart: the latest snapshot, and the writes that the log has after it. Some files are left out.
func readDataDir(dir string, without []string) (Tree, error) {
	if filepath.Base(dir) == "version-2" {
		dir = filepath.Dir(dir)
	}
	for _, name := range without {
		if !slices.Contains(filesOf(dir), name) {
			return Tree{}, fmt.Errorf("%s: no file %s to leave out; expected one of %s", dir, name,
				strings.Join(filesOf(dir), ", "))
		}
	}
	snapshot, zxid, found, err := txnlog.ReadSnapshot(dir, without...)
	if err != nil {
		return Tree{}, err
	}
	entries, err := txnlog.Read(dir, zxid, without...)
	if errors.Is(err, txnlog.ErrCorrupt) {
		return Tree{}, fmt.Errorf("%w; ReadFile, and zksim serve --load-without FILE, leave a damaged "+
			"log out by its name", err)
	}
	if err != nil {
		return Tree{}, err
	}
	if !found && len(entries) == 0 {
		return Tree{}, fmt.Errorf("%s: no data of a server; expected files snapshot.ZXID and log.ZXID "+
			"in the folder version-2 of it", dir)
	}
	t := dataTree{}
	for _, n := range snapshot.Nodes {
		t.restore(n)
	}
	for _, e := range entries {
		if e.Zxid != zxid+1 && e.Zxid != firstOfEpoch(e.Zxid) {
			return Tree{}, fmt.Errorf("%s: the log has no entry between the zxids 0x%x and 0x%x; "+
				"expected all after the latest snapshot", dir, zxid, e.Zxid)
		}
		zxid = e.Zxid
		for _, r := range e.Records {
			t.apply(r)
		}
	}
	nodes, err := t.nodes()
	if err != nil {
		return Tree{}, fmt.Errorf("%s: %w", dir, err)
	}
	return Tree{Zxid: zxid, Nodes: nodes}, nil
}

// filesOf are the names of the snapshots and logs of a data directory.
func filesOf(dir string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, "version-2")) // reading them names the error
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), ".")
		if kind == "log" || kind == "snapshot" {
			names = append(names, e.Name())
		}
	}
	return names
}

// firstOfEpoch is the first zxid that a leader gives a write, in the epoch of a zxid.
func firstOfEpoch(zxid int64) int64 { return zxid&^math.MaxUint32 + 1 }

// dataTree has the nodes that belong to no session, by path.
type dataTree map[string]*view.NodeSpec

// restore adds a node of the snapshot.
func (t dataTree) restore(n proto.SnapshotNode) {
	spec := &view.NodeSpec{
		Path: cmp.Or(n.Path, "/"), Data: n.Data, ACL: inspect.ACLs(n.ACL), Next: n.Stat.Cversion,
	}
	const ttl, ttlBits = 0xff, 40 // the highest byte of the owner of a TTL node, and its time
	switch owner := uint64(n.Stat.EphemeralOwner); {
	case owner == 0:
	case owner == 1<<63:
		spec.Kind = view.ContainerNode
	case owner>>56 == ttl:
		spec.Kind = view.TTLNode
		spec.TTL = time.Duration(owner&(1<<ttlBits-1)) * time.Millisecond
	default:
		return // a session's
	}
	t[spec.Path] = spec
}

// apply carries out a change. The snapshot may have it already, and later ones.
func (t dataTree) apply(r proto.LogRecord) {
	n := t[r.Path]
	switch r.Op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL:
		if parent := t[path.Dir(r.Path)]; parent != nil {
			parent.Next = max(parent.Next, r.Siblings)
		}
		if !r.Ephemeral {
			t[r.Path] = created(r) // the log has all that happened to it since
		}
	case proto.OpDelete, proto.OpDeleteContainer:
		delete(t, r.Path)
	case proto.OpSetData:
		if n != nil {
			n.Data = r.Data
		}
	case proto.OpSetACL:
		if n != nil {
			n.ACL = inspect.ACLs(r.ACL)
		}
	}
}

func created(r proto.LogRecord) *view.NodeSpec {
	spec := &view.NodeSpec{Path: r.Path, Data: r.Data, ACL: inspect.ACLs(r.ACL)}
	switch r.Op {
	case proto.OpCreateContainer:
		spec.Kind = view.ContainerNode
	case proto.OpCreateTTL:
		spec.Kind, spec.TTL = view.TTLNode, time.Duration(r.TTL)*time.Millisecond
	}
	return spec
}

// nodes are all nodes but those that every server has of its own, in order of path.
func (t dataTree) nodes() (list []view.NodeSpec, err error) {
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if isOwn(path) {
			continue
		}
		if len(t[path].ACL) == 0 {
			return nil, fmt.Errorf("neither the snapshot nor the log has the ACL of %s", path)
		}
		list = append(list, *t[path])
	}
	return list, nil
}

// isOwn reports whether every server has a node of its own.
func isOwn(path string) bool {
	return slices.Contains([]string{"/zookeeper", "/zookeeper/config", "/zookeeper/quota"}, path)
}

// isDir reports whether a name is that of a folder.
func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
