package tree

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/adler32"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

var record = flag.Bool("record", false, "record the data directory of testdata again")

// recorded is the data directory of a ZooKeeper 3.8.0: a snapshot, and writes after it.
const recorded = "testdata/datadir"

func connect(t *testing.T, address string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	check.OK(t, conn.AddAuth("digest", []byte("u:p")))
	return conn
}

// writeBefore and writeAfter make nodes of every kind, before the snapshot and after it.
func writeBefore(t *testing.T, conn *zk.Conn) {
	t.Helper()
	must := mustOf(t)
	must(conn.Create("/app", []byte("hello"), 0, zk.WorldACL(zk.PermAll)))
	must(conn.Create("/app/secret", []byte{0xff, 0}, 0, zk.DigestACL(zk.PermAll, "u", "p")))
	must(conn.Create("/app/null", nil, 0, zk.WorldACL(zk.PermRead|zk.PermAdmin)))
	must(conn.Create("/app/s-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)))
	must(conn.Create("/app/s-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll)))
	must(conn.CreateContainer("/box", nil, zk.FlagTTL-1, zk.WorldACL(zk.PermAll)))
	must(conn.CreateTTL("/soon", []byte("x"), zk.FlagTTL, zk.WorldACL(zk.PermAll), time.Hour))
	must(conn.Create("/gone", nil, 0, zk.WorldACL(zk.PermAll)))
}

func writeAfter(t *testing.T, conn *zk.Conn) {
	t.Helper()
	must := mustOf(t)
	check.OK(t, conn.Delete("/gone", -1))
	must(conn.Set("/app", []byte("world"), -1))
	must(conn.SetACL("/app/null", zk.WorldACL(zk.PermAll), -1))
	must(conn.Create("/app/s-", []byte("2"), zk.FlagSequence, zk.WorldACL(zk.PermAll)))
	must(conn.Create("/app/me", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))
	must(conn.CreateContainer("/box/in", []byte("c"), zk.FlagTTL-1, zk.WorldACL(zk.PermRead)))
	must(conn.CreateTTL("/box/t", nil, zk.FlagTTL, zk.WorldACL(zk.PermAll), time.Minute))
	must(conn.Multi(&zk.CreateRequest{Path: "/m", Data: []byte("of a multi"),
		Acl: zk.WorldACL(zk.PermAll)}, &zk.SetDataRequest{Path: "/soon", Version: -1}))
	if _, err := conn.Create("/app", nil, 0, zk.WorldACL(zk.PermAll)); err == nil {
		t.Fatal("a refused write, which the log has, succeeds")
	}
}

func mustOf(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		check.OK(t, err)
	}
}

// TestDataDirOfARealServer asks the server what it has, before a restart, when all is in the log,
// and after it, when most is in a snapshot.
func TestDataDirOfARealServer(t *testing.T) {
	server := realzk.Start(t, realzk.Options{})
	if server.DataDir() == "" {
		t.Skip("the server was not started here")
	}
	conn := connect(t, server.Address())
	writeBefore(t, conn)
	wantSame(t, server.DataDir(), conn)
	check.OK(t, server.Restart(t.Context(), 0))
	conn = connect(t, server.Address())
	writeAfter(t, conn)
	wantSame(t, server.DataDir(), conn)
	if *record {
		keep(t, server.DataDir())
	}
}

// keep copies the latest snapshot and the latest log to testdata, without the zeros at the end.
func keep(t *testing.T, dir string) {
	t.Helper()
	for _, prefix := range []string{"snapshot.", "log."} {
		names, err := filepath.Glob(filepath.Join(dir, "version-2", prefix+"*"))
		check.OK(t, err)
		name := names[len(names)-1] // as long as their numbers have one digit
		data, err := os.ReadFile(name)
		check.OK(t, err)
		to := filepath.Join(recorded, "version-2", filepath.Base(name))
		check.OK(t, os.MkdirAll(filepath.Dir(to), 0o777))
		if prefix == "log." {
			data = bytes.TrimRight(data, "\x00")
		}
		check.OK(t, os.WriteFile(to, data, 0o666))
	}
}

// wantSame compares the tree of a data directory with what a server answers: with this one, and
// with a server that has loaded the tree.
func wantSame(t *testing.T, dir string, conn *zk.Conn) {
	t.Helper()
	tree, err := ReadFile(dir)
	check.OK(t, err)
	ours := fakezk.New(fakezk.Options{})
	check.OK(t, tree.Load(ours))
	t.Cleanup(func() { check.OK(t, ours.Close()) })
	check.Diff(t, nodesOf(t, conn, "/"), tree.Nodes)
	check.Diff(t, ours.Snapshot(), tree.Nodes)
}

var kinds = map[string]view.NodeSpec{
	"/box": {Kind: view.ContainerNode}, "/box/in": {Kind: view.ContainerNode},
	"/soon":  {Kind: view.TTLNode, TTL: time.Hour},
	"/box/t": {Kind: view.TTLNode, TTL: time.Minute},
}

// nodesOf reads the nodes at a path and below that are no session's, but the server's own.
func nodesOf(t *testing.T, conn *zk.Conn, at string) (list []view.NodeSpec) {
	t.Helper()
	data, stat, err := conn.Get(at)
	check.OK(t, err)
	acls, _, err := conn.GetACL(at)
	check.OK(t, err)
	spec := view.NodeSpec{Path: at, Data: data}
	for _, a := range acls {
		spec.ACL = append(spec.ACL, view.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	children, _, err := conn.Children(at)
	check.OK(t, err)
	slices.Sort(children)
	// The server counts deletions, too, and does not tell the kind.
	spec.Next = (stat.Cversion + stat.NumChildren) / 2
	spec.Kind, spec.TTL = kinds[at].Kind, kinds[at].TTL
	if stat.EphemeralOwner == 0 {
		list = append(list, spec)
	}
	for _, name := range children {
		if child := path.Join(at, name); child != "/zookeeper" {
			list = append(list, nodesOf(t, conn, child)...)
		}
	}
	return list
}

// TestRecordedDataDir needs no ZooKeeper here.
func TestRecordedDataDir(t *testing.T) {
	tree, err := ReadFile(recorded)
	check.OK(t, err)
	name := filepath.Join(t.TempDir(), "tree.yaml")
	_, err = WriteFile(name, tree)
	check.OK(t, err)
	got := testrun.ReadFile(t, name)
	check.Equal(t, got, testrun.ReadFile(t, recorded+".yaml"))
	inside, err := ReadFile(filepath.Join(recorded, "version-2"))
	check.OK(t, err)
	check.Diff(t, inside, tree, "the tree of the folder in it")
}

// renumbered gives the list of ACLs of a snapshot that begins with some bytes another number.
func renumbered(list string) func([]byte) []byte {
	return func(data []byte) []byte {
		const more = 8 + 5 + 8 + 4 + 8 + 8 + 5 // the checksum, and what follows it
		number := bytes.Index(data, []byte(list))
		data[number] = 99
		sum := adler32.Checksum(data[:len(data)-more])
		binary.BigEndian.PutUint64(data[len(data)-more:], uint64(sum))
		return data
	}
}

// TestSnapshotMayHaveLaterChanges: the server goes on while it writes the snapshot, and the lists
// of ACLs come first in it. So it may have a node that the log makes later, without its list.
func TestSnapshotMayHaveLaterChanges(t *testing.T) {
	open := []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	nodes := dataTree{}
	nodes.restore(proto.SnapshotNode{ACL: open})
	nodes.restore(proto.SnapshotNode{Path: "/q", ACL: open, Stat: proto.Stat{Cversion: 9}})
	nodes.restore(proto.SnapshotNode{Path: "/q/n", Data: []byte("new")})
	nodes.apply(proto.LogRecord{Op: proto.OpCreate2, Path: "/q/n", Data: []byte("old"), ACL: open,
		Siblings: 8})
	nodes.apply(proto.LogRecord{Op: proto.OpSetData, Path: "/q/n", Data: []byte("new")})
	nodes.apply(proto.LogRecord{Op: proto.OpReconfig, Path: "/zookeeper/config"})
	got, err := nodes.nodes()
	check.OK(t, err)
	check.Diff(t, got, []view.NodeSpec{{Path: "/", ACL: inspect.ACLs(open)},
		{Path: "/q", ACL: inspect.ACLs(open), Next: 9},
		{Path: "/q/n", ACL: inspect.ACLs(open), Data: []byte("new")}})
}

// TestListThatTheSnapshotLacks is set by a write of the recorded log.
func TestListThatTheSnapshotLacks(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, os.CopyFS(dir, os.DirFS(recorded)))
	name := filepath.Join(dir, "version-2", "snapshot.9")
	data, err := os.ReadFile(name)
	check.OK(t, err)
	check.OK(t, os.WriteFile(name, renumbered("\x04\x00\x00\x00\x01\x00\x00\x00\x11")(data), 0o666))
	got, err := ReadFile(dir)
	check.OK(t, err)
	want, err := ReadFile(recorded)
	check.OK(t, err)
	check.Diff(t, got, want)
}

// TestSnapshotThatIsNotComplete is left out, as by a server, if there is an older one.
func TestSnapshotThatIsNotComplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b")
	check.OK(t, os.CopyFS(dir, os.DirFS(recorded)))
	data, err := os.ReadFile(filepath.Join(dir, "version-2", "snapshot.9"))
	check.OK(t, err)
	for _, name := range []string{"snapshot.b", "snapshot.c.tmp"} {
		check.OK(t, os.WriteFile(filepath.Join(dir, "version-2", name), data[:500], 0o666))
	}
	got, err := ReadFile(dir)
	check.OK(t, err)
	want, err := ReadFile(recorded)
	check.OK(t, err)
	check.Diff(t, got, want)
}

// TestDamagedDataDirs: the error says which file is damaged, and where.
func TestDamagedDataDirs(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(data []byte) []byte {
			data[at] ^= 1
			return data
		}
	}
	for _, c := range []struct {
		about, file string
		change      func([]byte) []byte
		want        string
	}{
		{"a byte of a node", "snapshot.9", flip(300), "snapshot.9: snapshot: "},
		{"the checksum", "snapshot.9", func(data []byte) []byte {
			return bytes.Replace(data, []byte("hello"), []byte("hullo"), 1)
		}, "snapshot.9: snapshot: .*val: checksum"},
		{"no snapshot", "snapshot.9", func([]byte) []byte { return []byte("x") },
			"snapshot.9: snapshot: .*header.magic"},
		{"cut off", "snapshot.9", func(data []byte) []byte { return data[:500] },
			"snapshot.9: snapshot: .*needs"},
		{"an ACL that nothing has", "snapshot.9", renumbered("\x03\x00\x00\x00\x01"),
			"neither the snapshot nor the log has the ACL of /app/secret"},
		{"a byte of a write", "log.a", flip(60), "log.a: at byte 16: corrupt: checksum"},
		{"a write that is missing", "log.a", func(data []byte) []byte {
			first := 16 + 12 + int(binary.BigEndian.Uint32(data[24:])) + 1
			return append(data[:16:16], data[first:]...)
		}, "the log has no entry between the zxids 0x9 and 0xb"},
	} {
		dir := t.TempDir()
		check.OK(t, os.CopyFS(dir, os.DirFS(recorded)))
		name := filepath.Join(dir, "version-2", c.file)
		data, err := os.ReadFile(name)
		check.OK(t, err)
		check.OK(t, os.WriteFile(name, c.change(data), 0o666))
		_, err = ReadFile(dir)
		if ok, _ := regexp.MatchString(c.want, fmt.Sprint(err)); !ok {
			t.Errorf("%s: %v; want %s in it", c.about, err, c.want)
		}
	}
	_, err := ReadFile(filepath.Join(t.TempDir(), "zookepper"))
	check.Is(t, err, fs.ErrNotExist)
	_, err = ReadFile(t.TempDir())
	check.Contains(t, fmt.Sprint(err), "no data of a server; expected files snapshot.ZXID and log.ZXID")
}
