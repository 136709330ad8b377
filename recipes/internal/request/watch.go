package request

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// Watch is a watch of the client for any number of waiters. It fires once. The channel of the
// client delivers the event to only one waiter, which passes it on.
type Watch struct {
	events <-chan zk.Event
	fired  chan struct{} // closed by the receiver of the event
	onFire func()        // called when the event is received; nil: the watch is not kept
	reason error         // the meaning of the event for a waiter; to be read once fired is closed
}

func newWatch(events <-chan zk.Event) *Watch {
	return &Watch{events: events, fired: make(chan struct{})}
}

// await waits for the event. fired is false if the interval recheck has passed without an event. If
// the watch ends with the session, await returns errRestart. If the event has come and the context
// is done, the event counts: a single select would choose between them at random.
func (w *Watch) await(ctx context.Context, recheck time.Duration) (fired bool, err error) {
	select {
	case ev, ok := <-w.events:
		return true, w.receive(ev, ok)
	case <-w.fired:
		return true, w.reason
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
		return true, w.reason
	}
}

// receive passes an event on to the other waiters. The client closes its channel after the event. A
// waiter that finds the channel closed waits for the receiver of the event.
func (w *Watch) receive(ev zk.Event, ok bool) error {
	if ok {
		w.reason = watchError(ev)
		if w.onFire != nil {
			w.onFire()
		}
		close(w.fired)
	}
	<-w.fired
	return w.reason
}

// AwaitEvent is await for a watch with one waiter.
func AwaitEvent(
	ctx context.Context, events <-chan zk.Event, recheck time.Duration,
) (fired bool, err error) {
	return newWatch(events).await(ctx, recheck)
}

// watchError returns the error of an event for a waiter, or nil if the waiter has to look again.
func watchError(ev zk.Event) error {
	switch {
	case errors.Is(ev.Err, zk.ErrClosing):
		return ErrConnClosed
	case ev.Err != nil:
		return ErrRestart
	}
	return nil
}
