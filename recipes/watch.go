package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// watch is a watch of the client that any number of goroutines can wait for: it fires once, and the
// channel of the client hands its event to only one of them.
type watch struct {
	events <-chan zk.Event
	fired  chan struct{} // closed by the receiver of the event
	spent  func()        // called when the event is received; nil: the watch is not kept
	why    error         // the meaning of the event for a waiter; to be read once fired is closed
}

func newWatch(events <-chan zk.Event) *watch {
	return &watch{events: events, fired: make(chan struct{})}
}

// await waits for the event. It reports false if it is time to look again without one. A watch that
// ends with the session means errRestart. If the event has come and the context is done, the event
// counts: a select alone would choose between them at random.
func (w *watch) await(ctx context.Context, recheck time.Duration) (fired bool, err error) {
	select {
	case ev, ok := <-w.events:
		return true, w.receive(ev, ok)
	case <-w.fired:
		return true, w.why
	default:
	}
	var again <-chan time.Time
	if recheck > 0 {
		timer := time.NewTimer(recheck)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-again:
		return false, nil
	case ev, ok := <-w.events:
		return true, w.receive(ev, ok)
	case <-w.fired:
		return true, w.why
	}
}

// receive passes an event on to the other waiters. The client closes its channel after the event; a
// waiter that finds it closed waits for the one that has the event.
func (w *watch) receive(ev zk.Event, ok bool) error {
	if ok {
		w.why = watchError(ev)
		if w.spent != nil {
			w.spent()
		}
		close(w.fired)
	}
	<-w.fired
	return w.why
}

// awaitEvent is await for a watch with one waiter.
func awaitEvent(
	ctx context.Context, events <-chan zk.Event, recheck time.Duration,
) (fired bool, err error) {
	return newWatch(events).await(ctx, recheck)
}

// watchError returns the meaning of an event for a waiter: nil if it is to look again.
func watchError(ev zk.Event) error {
	switch {
	case errors.Is(ev.Err, zk.ErrClosing):
		return ErrConnClosed
	case ev.Err != nil:
		return errRestart
	}
	return nil
}
