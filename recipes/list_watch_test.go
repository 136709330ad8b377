package recipes_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/recipes/internal/request"
)

// lister lists the children of a directory and watches for changes.
type lister func(c *testConn, dir string) (names []string, events <-chan zk.Event, err error)

// oneStep is the request that all recipes rely on.
func oneStep(c *testConn, dir string) ([]string, <-chan zk.Event, error) {
	names, _, events, err := c.ChildrenW(dir)
	return names, events, err
}

// twoSteps watches after it has listed.
func twoSteps(c *testConn, dir string) ([]string, <-chan zk.Event, error) {
	names, _, err := c.Children(dir)
	if err != nil {
		return nil, nil, err
	}
	time.Sleep(10 * time.Millisecond)
	_, _, events, err := c.ChildrenW(dir)
	return names, events, err
}

// change is a change of one child, some time after the one before.
type change struct {
	child string
	after time.Duration
}

// misses reports whether a reader that lists again after each event knows the children in the end,
// or how an event was wrong.
func misses(t *testing.T, list lister, changes []change) (missed bool, err error) {
	alone(t, func(t *testing.T, s *testServer, reader *testConn) {
		writer := s.Connect()
		s.Seed("/d", "")
		written := make(chan error, 1)
		go func() { written <- write(writer, changes) }()
		quiet := time.After(time.Minute)
		for {
			names, events, listErr := list(reader, "/d")
			select {
			case ev := <-events:
				if ev.Type != zk.EventNodeChildrenChanged || ev.Path != "/d" {
					err = fmt.Errorf("event %+v", ev)
				}
			case <-quiet:
				slices.Sort(names)
				missed = !slices.Equal(names, s.Below("/d"))
				err = errors.Join(err, listErr, <-written)
				return
			}
		}
	})
	return missed, err
}

// write creates the children that are not there, and deletes the others.
func write(c *testConn, changes []change) error {
	for _, change := range changes {
		time.Sleep(change.after)
		path := request.Join("/d", change.child)
		err := c.Delete(path, -1)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestListAndWatchAreOneStep: no change comes between a list and its watch.
func TestListAndWatchAreOneStep(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var changes []change
		for range rapid.IntRange(1, 12).Draw(r, "changes") {
			changes = append(changes, change{
				rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "child"),
				time.Duration(rapid.IntRange(0, 3000).Draw(r, "after")) * time.Microsecond,
			})
		}
		if missed, err := misses(t, oneStep, changes); missed || err != nil {
			r.Fatalf("missed %v, %v", missed, err)
		}
	})
}

// TestListAndThenWatchMisses is the control.
func TestListAndThenWatchMisses(t *testing.T) {
	for after := range 20 {
		missed, err := misses(t, twoSteps, []change{
			{"a", time.Duration(after) * 200 * time.Microsecond},
		})
		if mustDo(t, err); missed {
			return
		}
	}
	t.Error("nothing was missed")
}
