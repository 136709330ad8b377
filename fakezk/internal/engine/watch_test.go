package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestConnectionsAreNotifiedInOrderOfTheirIDs(t *testing.T) {
	b := newBench(t, nil)
	var ids []ConnID
	for range 4 {
		ids = append(ids, b.connect(9*time.Second))
	}
	b.must(ids[0], create("/a", 0))
	b.must(ids[3], &proto.GetData{Path: "/a", Watch: true})
	b.must(ids[1], &proto.GetChildren{Code: proto.OpGetChildren, Path: "/a", Watch: true})
	b.must(ids[2], &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive})
	b.must(ids[0], &proto.AddWatch{Path: "/a"})
	r := b.take(b.e.Handle(ids[2], request(remove("/a")), b.now))
	b.wantOutputs("1:NodeDeleted /a@0 2:NodeDeleted /a@0 3:NodeDeleted /a@0 4:NodeDeleted /a@0")
	sessions := b.e.Sessions()
	want := [][]int64{{sessions[0].ID, sessions[1].ID, sessions[2].ID, sessions[3].ID}, nil}
	check.Diff(t, r.Applied[0].Notified, want, "notified")
	check.Diff(t, r.Applied[0].Watchers, []Watchers{{Data: 3, Child: 3}, {}}, "watchers")
}

func TestWatchesShowTheirMode(t *testing.T) {
	b := newBench(t, nil)
	x, y := b.connect(9*time.Second), b.connect(9*time.Second)
	b.must(y, &proto.GetData{Path: "/", Watch: true})
	b.must(x, &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive},
		&proto.AddWatch{Path: "/no"})
	var got []string
	for _, w := range b.e.Watches() {
		got = append(got, fmt.Sprintf("%d %s %v %s", w.Conn, w.Path, w.Child, w.Mode))
	}
	want := []string{
		"1 / false persistent-recursive", "2 / false standard", "1 /no false persistent",
		"1 / true persistent-recursive", "1 /no true persistent",
	}
	check.Diff(t, got, want)
	b.e.Drop(x)
	b.e.Drop(y)
	recursive := b.e.ensemble.leader.watches.recursive()
	if left := b.e.Watches(); len(left) > 0 || recursive != 0 {
		t.Errorf("watches of closed connections: %+v, %d recursive", left, recursive)
	}
}

// TestWatchesOfAGoneConnectionGoInShares drops a connection with more watches than one call
// removes.
func TestWatchesOfAGoneConnectionGoInShares(t *testing.T) {
	marks.Expect(t, "watches go later")
	b := newBench(t, nil)
	x, y := b.connect(9*time.Second), b.connect(9*time.Second)
	set := &proto.SetWatches{
		Code: proto.OpSetWatches, DataWatches: []string{}, ChildWatches: []string{},
	}
	for i := range 10 * mostRemoved {
		set.ExistWatches = append(set.ExistWatches, fmt.Sprintf("/%d", i))
	}
	b.must(x, set)
	b.must(x, &proto.AddWatch{Path: "/r", Mode: proto.WatchPersistentRecursive})
	b.e.Drop(x)
	w := &b.e.ensemble.leader.watches
	if n := len(w.data.byPath); n < mostRemoved || len(b.e.Watches()) > 0 {
		t.Errorf("%d paths are left, and %d watches are shown", n, len(b.e.Watches()))
	}
	any := &proto.Watches{Code: proto.OpCheckWatches, Path: "/r", Type: proto.WatcherAny}
	check.Equal(t, b.ask(y, any).Err, proto.NoWatcher)
	b.must(y, create("/r", 0), create("/r/a", 0), remove("/r/a"))
	b.ask(y, &proto.Exists{Path: "/r/b", Watch: true})
	b.must(y, create("/r/b", 0))
	b.wantOutputs("2:NodeCreated /r/b@0")
	for range 4 {
		if at := b.e.NextDeadline(); at.After(b.now) {
			t.Errorf("the next share is due at %v, now is %v", at, b.now)
		}
		b.e.Tick(b.now)
	}
	b.e.Tick(b.now)
	if left := len(w.data.byPath) + len(w.child.byPath) + len(w.gone); left > 0 ||
		!b.e.NextDeadline().After(b.now) {
		t.Errorf("%d are left; the next deadline is %v", left, b.e.NextDeadline())
	}
}
