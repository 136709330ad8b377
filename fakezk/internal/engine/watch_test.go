package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

func TestConnectionsAreNotifiedInOrderOfTheirIDs(t *testing.T) {
	b := newBench(t, nil)
	ids := []ConnID{b.connect(9 * time.Second), b.connect(9 * time.Second), b.connect(9 * time.Second), b.connect(9 * time.Second)}
	b.must(ids[0], create("/a", 0))
	b.must(ids[3], &proto.GetData{Path: "/a", Watch: true})
	b.must(ids[1], &proto.GetChildren{Code: proto.OpGetChildren, Path: "/a", Watch: true})
	b.must(ids[2], &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive})
	b.must(ids[0], &proto.AddWatch{Path: "/a"})
	r := b.take(b.e.Handle(ids[2], request(remove("/a")), b.now))
	b.wantHeard("1:NodeDeleted /a@0 2:NodeDeleted /a@0 3:NodeDeleted /a@0 4:NodeDeleted /a@0")
	sessions := b.e.Sessions()
	want := [][]int64{{sessions[0].ID, sessions[1].ID, sessions[2].ID, sessions[3].ID}, nil}
	if diff := cmp.Diff(want, r.Applied[0].Notified); diff != "" {
		t.Errorf("notified (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]Watchers{{Data: 3, Child: 3}, {}}, r.Applied[0].Watchers); diff != "" {
		t.Errorf("watchers (-want +got)\n%s", diff)
	}
}

func TestWatchesTellTheirMode(t *testing.T) {
	b := newBench(t, nil)
	x, y := b.connect(9*time.Second), b.connect(9*time.Second)
	b.must(y, &proto.GetData{Path: "/", Watch: true})
	b.must(x, &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive}, &proto.AddWatch{Path: "/no"})
	var got []string
	for _, w := range b.e.Watches() {
		got = append(got, fmt.Sprintf("%d %s %v %s", w.Conn, w.Path, w.Child, w.Mode))
	}
	want := []string{
		"1 / false persistent-recursive", "2 / false standard", "1 /no false persistent",
		"1 / true persistent-recursive", "1 /no true persistent",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	b.e.Drop(x)
	b.e.Drop(y)
	if left := b.e.Watches(); len(left) > 0 || b.e.watches.data.recursive != 0 || b.e.watches.child.recursive != 0 {
		t.Errorf("watches of connections that are gone: %+v", left)
	}
}

// A data watch goes by the zxid of the data, a child watch by that of the children.
func TestSetWatchesCompareTheRightZxid(t *testing.T) {
	b := newBench(t, nil)
	id := b.connect(9 * time.Second)
	b.must(id, create("/a", 0), &proto.SetData{Path: "/a", Version: -1}, create("/a/k", 0)) // zxids 2, 3, 4
	for _, test := range []struct {
		seen int64
		want string
	}{{2, "1:NodeDataChanged /a@0 1:NodeChildrenChanged /a@0"}, {3, "1:NodeChildrenChanged /a@0"}, {4, ""}} {
		b.must(id, &proto.SetWatches{Code: proto.OpSetWatches, RelativeZxid: test.seen,
			DataWatches: []string{"/a"}, ExistWatches: []string{}, ChildWatches: []string{"/a"}})
		b.wantHeard(test.want)
	}
	b.must(id, &proto.SetData{Path: "/a", Version: -1}) // 5; its data is newer than its children now
	b.heard()
	b.must(id, &proto.SetWatches{Code: proto.OpSetWatches, RelativeZxid: 4,
		DataWatches: []string{"/a"}, ExistWatches: []string{}, ChildWatches: []string{"/a"}})
	b.wantHeard("1:NodeDataChanged /a@0")
}

// plainWatches is the table as simple as can be: a mode for each connection and
// path, and no index.
type plainWatches map[string]WatchMode // "conn path"

func (p plainWatches) trigger(ev proto.EventType, path string, conns int) []ConnID {
	var hit []ConnID
	for id := range ConnID(conns) {
		concerned := false
		for key, mode := range p {
			var who ConnID
			var where string
			fmt.Sscan(key, &who, &where)
			under := path == where || where == "/" || strings.HasPrefix(path, where+"/")
			switch {
			case who != id:
			case mode == Recursive && under && ev != proto.EventChildrenChanged, mode == Persistent && path == where:
				concerned = true
			case mode == OneShot && path == where:
				concerned = true
				delete(p, key)
			}
		}
		if concerned {
			hit = append(hit, id)
		}
	}
	return hit
}

func TestWatchTableAgreesWithAPlainOne(t *testing.T) {
	paths := []string{"/", "/a", "/a/b", "/ab", "/a/b/c"}
	rapid.Check(t, func(t *rapid.T) {
		table := newWatches().data
		plain := plainWatches{}
		var conns []*conn
		for id := range ConnID(3) {
			conns = append(conns, &conn{id: id})
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			c := rapid.SampledFrom(conns).Draw(t, "conn")
			path := rapid.SampledFrom(paths).Draw(t, "path")
			key := fmt.Sprintf("%d %s", c.id, path)
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				_, was := plain[key]
				delete(plain, key)
				if table.remove(c, path) != was {
					t.Fatalf("remove of %s: there was one: %v", key, was)
				}
			case 1, 2:
				mode := WatchMode(rapid.IntRange(0, 2).Draw(t, "mode"))
				plain[key] = mode
				table.add(c, path, mode)
			default:
				ev := proto.EventType(rapid.IntRange(1, 4).Draw(t, "event"))
				hit := table.trigger(nil, ev, path)
				var got []ConnID
				for _, c := range hit {
					got = append(got, c.id)
				}
				slices.Sort(got)
				if want := plain.trigger(ev, path, len(conns)); !slices.Equal(slices.Compact(got), want) {
					t.Fatalf("%s %s: %v, want %v", ev, path, got, want)
				}
			}
			count := 0
			for _, list := range table.byPath {
				count += len(list)
			}
			if count != len(plain) {
				t.Fatalf("%d watches, want %d", count, len(plain))
			}
		}
	})
}
