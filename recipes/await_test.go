package recipes

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
)

// What a waiter does must not be left to chance when its context is done and its
// watch has fired: two runs of one seed would differ.
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
