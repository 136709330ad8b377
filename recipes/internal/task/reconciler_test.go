package task

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func newGroup(c *testconn.Conn, kind string) *Group {
	return NewGroup(c, kind, "", request.NewOptions[func(*request.Options)](nil))
}

// mirror keeps a copy of the data of two nodes.
type mirror struct {
	*Reconciler
	steps []Due
	copy  map[string]string
}

func newMirror(c *testconn.Conn) *mirror {
	m := &mirror{
		Reconciler: NewReconciler(newGroup(c, "mirror")), copy: map[string]string{},
	}
	m.Step = m.refresh
	return m
}

func (m *mirror) refresh(r *request.Sender, d Due) error {
	m.steps = append(m.steps, d)
	if d.All {
		d.Paths = []string{"/a", "/b"}
	}
	for _, path := range d.Paths {
		if m.Watching(path, WatchData) {
			continue
		}
		n, err := r.GetW(path)
		if err != nil {
			return err
		}
		m.Add(path, WatchData, n.Watch)
		m.copy[path] = string(n.Data)
	}
	return nil
}

func TestReconcilerFollowsItsWatches(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		s.Seed("/a", "1")
		s.Seed("/b", "1")
		m := newMirror(c)
		testconn.MustDo(t, m.Start())
		time.Sleep(time.Second)
		s.Seed("/b", "2")
		time.Sleep(time.Second)
		c.Expire() // ends two watches at once
		time.Sleep(time.Second)
		m.MarkDue("/a")
		testconn.LetSettle()
		want := []Due{{All: true}, {Paths: []string{"/b"}}, {All: true}, {Paths: []string{"/a"}}}
		same := func(a, b Due) bool { return a.All == b.All && slices.Equal(a.Paths, b.Paths) }
		if !slices.EqualFunc(m.steps, want, same) || m.copy["/b"] != "2" {
			t.Errorf("steps %+v, copy %v", m.steps, m.copy)
		}
		testconn.MustClose(t, m.group)
		check.Is(t, m.Start(), request.ErrClosed)
	})
}

// TestReconcilerRechecksWhatIsBusy: events of one node must not delay for ever the look at another
// node after a lost event.
func TestReconcilerRechecksWhatIsBusy(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		s.Seed("/a", "1")
		s.Seed("/b", "1")
		m := newMirror(c)
		m.group.Opts.Recheck = 15 * time.Second
		began, all := time.Now(), []time.Duration{}
		step := m.Step
		m.Step = func(r *request.Sender, d Due) error {
			if d.All {
				all = append(all, time.Since(began))
			}
			return step(r, d)
		}
		testconn.MustDo(t, m.Start())
		for range 10 {
			time.Sleep(4 * time.Second)
			m.MarkDue("/a")
		}
		synctest.Wait()
		if want := []time.Duration{
			0, 15 * time.Second, 30 * time.Second,
		}; !slices.Equal(all, want) {
			t.Errorf("everything was looked at after %v; want %v", all, want)
		}
		testconn.MustClose(t, m.group)
	})
}

func TestReconcilerSurvivesRefusalsAndEndsWithTheConn(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		s.Seed("/a", "1")
		m := newMirror(c)
		testconn.MustDo(t, m.Start())
		time.Sleep(10 * time.Second)
		check.Is(t, m.Failure(), zk.ErrNoNode)
		s.Seed("/b", "1")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := m.Failure(); err != nil || m.copy["/b"] != "1" {
			t.Errorf("failure: %v, copy %v", err, m.copy)
		}
		c.Close()
		time.Sleep(10 * time.Second)
		check.Is(t, m.Failure(), request.ErrConnClosed)
		testconn.MustClose(t, m.group)
	})
}

func TestCloseWaitsForTheLastOfALoop(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		f := &request.NamedEphemeral{Path: "/own"}
		m := NewReconciler(newGroup(c, "own"))
		m.Step = func(r *request.Sender, _ Due) error {
			return f.Create(r, nil)
		}
		m.Last = f.Remove
		testconn.MustDo(t, m.Start())
		synctest.Wait()
		time.Sleep(time.Second)
		s.WantBelow(t, "/", 1)
		c.On("delete", 1, testconn.Refused)
		check.Is(t, m.group.Close(t.Context()), zk.ErrNoAuth)
	})
}

// TestWhatIsRefusedIsDueTogether: if a loop woke between two of its nodes, the scheduler would
// decide between one step and two.
func TestWhatIsRefusedIsDueTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spots refusedNodes
		for _, path := range []string{"/b", "/a", "/c"} {
			testconn.MustDo(t, spots.Tolerate(t.Context(), path, zk.ErrNoAuth))
		}
		var due [][]string
		spots.scheduleRetry(func(paths ...string) { due = append(due, paths) })
		time.Sleep(LongestRefusalPause)
		synctest.Wait()
		if len(due) != 1 || !slices.Equal(due[0], []string{"/a", "/b", "/c"}) {
			t.Errorf("due %q; want all at once", due)
		}
	})
}

func TestNodeWatchIsUsedAgainAndOutlivesSessions(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		s.Seed("/gate", "")
		v, l := request.NodeWatch{Path: "/gate"},
			NewGroup(c, "test", "", request.Options{Recheck: time.Second})
		wait := func(ctx context.Context) error {
			return Act(ctx, l, "wait", func(r *request.Sender) error {
				return v.Until(r, r.Epoch(), func() (*request.Watch, bool, error) {
					stat, w, err := v.Existence(r)
					return w, stat == nil, err
				})
			})
		}
		ctx := testconn.Within(t, 10*time.Second)
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) || c.Called("existsW") != 1 {
			t.Errorf("waits: %v, %d watches", err, c.Called("existsW"))
		}
		c.Expire()
		done := make(chan error, 1)
		go func() { done <- wait(t.Context()) }()
		time.Sleep(10 * time.Second)
		check.Equal(t, c.Called("existsW"), 2, "watches after a new session")
		s.Delete("/gate")
		testconn.MustDo(t, <-done)
	})
}
