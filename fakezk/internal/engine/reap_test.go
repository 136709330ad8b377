package engine

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// reaperBench returns a server that looks for containers every 3 s, and a connection.
func reaperBench(t *testing.T) (*bench, ConnID) {
	b := newBench(t, func(cfg *Config) { cfg.ContainerCheckInterval = 3 * time.Second })
	id := b.connect(20 * time.Second)
	return b, id
}

// used creates containers that have had a child.
func (b *bench) used(id ConnID, paths ...string) {
	b.t.Helper()
	for _, path := range paths {
		b.must(id, container(path), create(path+"/k", 0), remove(path+"/k"))
	}
}

func TestReaperDeletesOneNodeInSixMilliseconds(t *testing.T) {
	b, id := reaperBench(t)
	b.used(id, "/a", "/b", "/c")
	b.must(id, &proto.AddWatch{Path: "/", Mode: proto.WatchPersistentRecursive})
	b.wait(3 * time.Second)
	b.wantOutputs("1:NodeDeleted /a@3000")
	b.wait(6 * time.Millisecond)
	b.wantOutputs("1:NodeDeleted /b@3006")
	b.must(id, create("/c/late", 0)) // so /c stays, although it is due
	b.takeOutputs()
	zxid := b.e.Store().LastZxid()
	b.wait(time.Second)
	b.wantOutputs("")
	check.Equal(t, b.e.Store().LastZxid()-zxid, 1,
		"zxids of the refused deletion, as on a real server")
}

func TestReaperHasADeadlineOnlyWithAContainer(t *testing.T) {
	marks.Expect(t, "checks without a deadline")
	b, id := reaperBench(t)
	wantNext := func(want time.Duration) {
		t.Helper()
		got := b.e.reaper.nextCheck - start.UnixMilli()
		isNext := b.e.reaper.next(b.e.Store()) == b.e.reaper.nextCheck
		if !isNext || got != want.Milliseconds() {
			t.Errorf("next check at %d ms (a deadline: %v), want %s", got, isNext, want)
		}
	}
	check.Equal(t, b.e.reaper.next(b.e.Store()), never, "the deadline of an empty server")
	b.now = start.Add(10 * time.Second) // three checks had nothing to do
	b.must(id, container("/c"))
	wantNext(12 * time.Second)
	b.now = start.Add(13 * time.Second) // the front is late: the check still happens
	b.must(id, ping)
	wantNext(12 * time.Second)
	b.take(b.e.Tick(b.now))
	wantNext(15 * time.Second)
	b.take(b.e.Restart(b.now))
	wantNext(16 * time.Second)
}

func TestReaperCanBeOff(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.ContainerCheckInterval = -1 })
	id := b.connect(20 * time.Second)
	b.used(id, "/c")
	b.e.Restart(b.now)
	check.Equal(t, b.e.reaper.next(b.e.Store()), never, "the deadline")
}

func TestReaperChecksEveryMinuteByDefault(t *testing.T) {
	b := newBench(t, nil)
	b.used(b.connect(20*time.Second), "/c")
	check.Equal(t, b.e.reaper.next(b.e.Store())-start.UnixMilli(), 60_000,
		"ms to the first check")
}
