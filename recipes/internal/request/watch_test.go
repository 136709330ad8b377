package request

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// TestEventCountsBeforeADoneContext: chance must not decide when the context of a waiter is done
// and its watch has fired: two runs of one seed would differ.
func TestEventCountsBeforeADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		watch := make(chan zk.Event, 1)
		watch <- zk.Event{Type: zk.EventNodeChildrenChanged}
		if fired, err := AwaitEvent(ctx, watch, 0); !fired || err != nil {
			t.Fatalf("got %v, %v; expected the event", fired, err)
		}
	}
}

// TestAWatchWakesAllWhoWaitForIt: a channel hands its event to one waiter; the others find it
// closed, and must learn of the event, too.
func TestAWatchWakesAllWhoWaitForIt(t *testing.T) {
	for _, closes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			events := make(chan zk.Event, 1)
			w := newWatch(events)
			results := make(chan error, 3)
			for range cap(results) {
				go func() {
					_, err := w.await(t.Context(), 0)
					results <- err
				}()
			}
			time.Sleep(time.Second)
			events <- zk.Event{Type: zk.EventNotWatching, Err: zk.ErrSessionExpired}
			if closes {
				close(events)
			}
			for range cap(results) {
				check.Is(t, <-results, ErrRestart)
			}
			if fired, err := w.await(t.Context(), 0); !fired || !errors.Is(err, ErrRestart) {
				t.Errorf("later: %v, %v", fired, err)
			}
		})
	}
}

// TestNodeWatchBeginsAnewWithAnyEvent: two looks have set two watches. After the event of either,
// the next look sets a new one.
func TestNodeWatchBeginsAnewWithAnyEvent(t *testing.T) {
	for first := range 2 {
		v := NodeWatch{Path: "/n"}
		events := []chan zk.Event{make(chan zk.Event, 1), make(chan zk.Event, 1)}
		watches := []*Watch{v.keep(events[0], nil), v.keep(events[1], nil)}
		events[first] <- zk.Event{Type: zk.EventNodeDataChanged}
		if _, err := watches[first].await(t.Context(), 0); err != nil || v.current() != nil {
			t.Errorf("event of watch %d: %v, and another watch is taken to be set", first, err)
		}
	}
}

func TestNodeWatchOverDataSeesEveryNewestValue(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		s.Seed("/n", "0")
		v := NodeWatch{Path: "/n"}
		r := NewSender(t.Context(), c, NewOptions[func(*Options)](nil), "", "")
		var seen []string
		err := v.Until(r, r.Epoch(), func() (*Watch, bool, error) {
			data, _, w, err := v.Data(r)
			seen = append(seen, string(data))
			next := string(data[0] + 1)
			if _, err := c.Set("/n", []byte(next), -1); err != nil {
				return nil, true, err
			}
			return w, next == "3", err
		})
		if err != nil || !slices.Equal(seen, []string{"0", "1", "2"}) || c.Called("getW") != 3 {
			t.Errorf("seen %v, %d watches, %v", seen, c.Called("getW"), err)
		}
		s.Delete("/n")
		if _, _, _, err := v.Data(r); !errors.Is(err, zk.ErrNoNode) ||
			v.current() != nil {
			t.Errorf("missing node: %v", err)
		}
	})
}
