package recipes

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
)

// mirror keeps a copy of the data of two nodes.
type mirror struct {
	*reconciler
	steps []due
	copy  map[string]string
}

func newMirror(c *testConn) *mirror {
	m := &mirror{
		reconciler: newReconciler(newLifecycle(c, "mirror", "", nil)), copy: map[string]string{},
	}
	m.step = m.refresh
	return m
}

func (m *mirror) refresh(ctx context.Context, r *requests, d due) error {
	m.steps = append(m.steps, d)
	if d.all {
		d.paths = []string{"/a", "/b"}
	}
	for _, path := range d.paths {
		if m.watching(path, watchData) {
			continue
		}
		n, err := r.getW(ctx, path)
		if err != nil {
			return err
		}
		m.add(path, watchData, n.watch)
		m.copy[path] = string(n.data)
	}
	return nil
}

func TestReconcilerFollowsItsWatches(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/a", "1")
		s.Seed("/b", "1")
		m := newMirror(c)
		mustDo(t, m.start())
		time.Sleep(time.Second)
		mustDo(t, errOf(c.Set("/b", []byte("2"), -1)))
		time.Sleep(time.Second)
		c.Expire() // ends two watches at once
		time.Sleep(time.Second)
		m.markDue("/a")
		letSettle()
		want := []due{{all: true}, {paths: []string{"/b"}}, {all: true}, {paths: []string{"/a"}}}
		same := func(a, b due) bool { return a.all == b.all && slices.Equal(a.paths, b.paths) }
		if !slices.EqualFunc(m.steps, want, same) || m.copy["/b"] != "2" {
			t.Errorf("steps %+v, copy %v", m.steps, m.copy)
		}
		mustClose(t, m.l)
		check.Is(t, m.start(), ErrClosed)
	})
}

// TestReconcilerRechecksWhatIsBusy: events of one node must not delay for ever the look at another
// node after a lost event.
func TestReconcilerRechecksWhatIsBusy(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/a", "1")
		s.Seed("/b", "1")
		m := newMirror(c)
		m.l.opts.recheck = 15 * time.Second
		began, all := time.Now(), []time.Duration{}
		step := m.step
		m.step = func(ctx context.Context, r *requests, d due) error {
			if d.all {
				all = append(all, time.Since(began))
			}
			return step(ctx, r, d)
		}
		mustDo(t, m.start())
		for range 10 {
			time.Sleep(4 * time.Second)
			m.markDue("/a")
		}
		synctest.Wait()
		if want := []time.Duration{
			0, 15 * time.Second, 30 * time.Second,
		}; !slices.Equal(all, want) {
			t.Errorf("everything was looked at after %v; want %v", all, want)
		}
		mustClose(t, m.l)
	})
}

func TestReconcilerSurvivesRefusalsAndEndsWithTheConn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/a", "1")
		m := newMirror(c)
		mustDo(t, m.start())
		time.Sleep(10 * time.Second)
		check.Is(t, m.failure(), zk.ErrNoNode)
		s.Seed("/b", "1")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := m.failure(); err != nil || m.copy["/b"] != "1" {
			t.Errorf("failure: %v, copy %v", err, m.copy)
		}
		c.Close()
		time.Sleep(10 * time.Second)
		check.Is(t, m.failure(), ErrConnClosed)
		mustClose(t, m.l)
	})
}

func TestCloseWaitsForTheLastOfALoop(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		f := &fixed{path: "/own"}
		m := newReconciler(newLifecycle(c, "own", "", nil))
		m.step = func(ctx context.Context, r *requests, _ due) error {
			return f.create(ctx, r, nil)
		}
		m.last = f.remove
		mustDo(t, m.start())
		synctest.Wait()
		time.Sleep(time.Second)
		s.WantBelow(t, "/", 1)
		c.On("delete", 1, refusal)
		check.Is(t, m.l.Close(t.Context()), zk.ErrNoAuth)
	})
}

// TestWhatIsRefusedIsDueTogether: if a loop woke between two of its nodes, the scheduler would
// decide between one step and two.
func TestWhatIsRefusedIsDueTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spots unreadable
		for _, path := range []string{"/b", "/a", "/c"} {
			mustDo(t, spots.tolerate(t.Context(), path, zk.ErrNoAuth))
		}
		var due [][]string
		spots.scheduleRetry(func(paths ...string) { due = append(due, paths) })
		time.Sleep(unreadableMax)
		synctest.Wait()
		if len(due) != 1 || !slices.Equal(due[0], []string{"/a", "/b", "/c"}) {
			t.Errorf("due %q; want all at once", due)
		}
	})
}
