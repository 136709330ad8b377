package recipes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
)

// TestEventCountsBeforeADoneContext: chance must not decide when the context of a waiter is done
// and its watch has fired: two runs of one seed would differ.
func TestEventCountsBeforeADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		watch := make(chan zk.Event, 1)
		watch <- zk.Event{Type: zk.EventNodeChildrenChanged}
		if fired, err := awaitEvent(ctx, watch, 0); !fired || err != nil {
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
				check.Is(t, <-results, errRestart)
			}
			if fired, err := w.await(t.Context(), 0); !fired || !errors.Is(err, errRestart) {
				t.Errorf("later: %v, %v", fired, err)
			}
		})
	}
}
