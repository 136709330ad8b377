package recipes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/task"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// TestGrantedWhileClosing: Close ends an operation's context a moment after it has marked the
// recipe as closed. A grant in between is given back, and the call returns an error.
func TestGrantedWhileClosing(t *testing.T) {
	never := context.Background()
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		sem := NewSemaphore(s.Connect(), "/sem", 1)
		sem.tasks.Cancel(ErrClosed)
		granted := task.Start(func(t *task.Task[[]*Lease]) ([]*Lease, error) {
			return sem.inTurn(sem.tasks.Sender(never), t, 1)
		})
		if lease, _, err := granted.Await(never); lease != nil || !errors.Is(err, ErrClosed) {
			t.Errorf("%v, %v; want %v", lease, err, ErrClosed)
		}
	})
}

// TestAReaderWhoDoesNotReadCostsNoMoreThanTheCache: nodes come and go.
func TestAReaderWhoDoesNotReadCostsNoMoreThanTheCache(t *testing.T) {
	v := newView(nil, "view", "/", "/", everything, nil)
	changes := v.Changes()
	v.show(CachedNode{Path: "/stays", Stat: zk.Stat{Mzxid: 1}})
	for n := range 10000 {
		path := fmt.Sprint("/", n%7)
		v.show(CachedNode{Path: path, Stat: zk.Stat{Mzxid: int64(n + 2)}})
		v.drop(path)
	}
	if len(changes.queue) > 4 || len(changes.pending) != 1 {
		t.Errorf("%d events and %d nodes are kept", len(changes.queue), len(changes.pending))
	}
	e, ok := changes.TryNext()
	check.Equal(t, fmt.Sprint(e.Kind, " ", e.Node.Path, " ", ok), "added /stays true")
}

// TestJoinedEventsGiveWhatIsShown: at each read, the reader's events applied to an empty map give
// the view, and each is of the right kind.
func TestJoinedEventsGiveWhatIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := newView(nil, "view", "/", "/", everything, nil)
		changes := v.Changes()
		replica := map[string]int64{}
		for zxid := range int64(rapid.IntRange(1, 40).Draw(t, "steps")) {
			path := rapid.SampledFrom([]string{"/a", "/b", "/c"}).Draw(t, "path")
			switch rapid.SampledFrom([]string{
				"show", "show", "drop", "read", "read all",
			}).Draw(t, "what") {
			case "show":
				v.show(CachedNode{Path: path, Stat: zk.Stat{Mzxid: zxid}})
			case "drop":
				v.drop(path)
			case "read":
				if e, ok := changes.TryNext(); ok {
					applyEvent(t, replica, e)
				}
			default:
				for e, ok := changes.TryNext(); ok; e, ok = changes.TryNext() {
					applyEvent(t, replica, e)
				}
				want := map[string]int64{}
				for _, n := range v.Nodes() {
					want[n.Path] = n.Stat.Mzxid
				}
				if !maps.Equal(replica, want) {
					t.Fatalf("replica %v, view %v", replica, want)
				}
			}
		}
	})
}

func applyEvent(t *rapid.T, replica map[string]int64, e CacheEvent) {
	before, there := replica[e.Node.Path]
	if there == (e.Kind == NodeAdded) ||
		there && e.Kind == NodeUpdated && before == e.Node.Stat.Mzxid {
		t.Fatalf("%s of %v in %v", e.Kind, e.Node, replica)
	}
	if delete(replica, e.Node.Path); e.Kind != NodeRemoved {
		replica[e.Node.Path] = e.Node.Stat.Mzxid
	}
}

// TestTermThatIsOverIsNotTaken: the loss comes before the call.
func TestTermThatIsOverIsNotTaken(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		called := LeaderFunc(func(context.Context) { t.Error("called") })
		sel, held := NewLeaderSelector(c, "/e", "a", called), &hold.Hold{Ended: make(chan struct{})}
		if held.End(); sel.lead(&Term{held}) {
			t.Error("says that it has led")
		}
		check.OK(t, sel.Close(t.Context()))
	})
}

func TestOptionsReachTheNodes(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		acl := zk.WorldACL(zk.PermAll &^ zk.PermAdmin)
		l := NewLock(s.Connect(), "/l", Data([]byte("host")), ACL(acl...),
			RecheckEvery(time.Second))
		check.OK(t, l.Lock(t.Context()))
		n, _ := s.Node(l.Path())
		if string(n.Data) != "host" || !slices.Equal(l.core.Tasks.Opts.ACL, acl) ||
			l.core.Tasks.Opts.Recheck != time.Second {
			t.Errorf("data %q, options %+v", n.Data, l.core.Tasks.Opts)
		}
		check.OK(t, l.Unlock(t.Context()))
	})
}
