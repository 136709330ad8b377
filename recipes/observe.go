package recipes

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/recipes/internal/request"
)

// EventKind is a kind of Event.
type EventKind int

const (
	// EventWait: an operation begins to wait for other clients, once.
	EventWait EventKind = iota
	// EventGrant: something is held from now on: a lock, a lease, leadership, an element of a
	// LockQueue, a place in a DoubleBarrier. Took is the time of the wait, 0 without one.
	EventGrant
	// EventRelease: the holder has given the hold back. The node may still be there. Took is the
	// duration of the hold.
	EventRelease
	// EventLoss: the hold is lost, or may be: Lost is closed. Took is the duration of the hold.
	EventLoss
	// EventRetry: a request got no answer, because of Err. It is sent again, or its outcome is
	// looked up.
	EventRetry
	// EventAnswer: a request got an answer after one or several retries. Err is the answer, nil for
	// a success. Took is the time since the first failure.
	EventAnswer

	eventKinds = iota
)

// String returns the kind in a word: "wait", "grant", "release", "loss", "retry" or "answer".
func (k EventKind) String() string {
	if k < 0 || k >= eventKinds {
		return "unknown"
	}
	return [eventKinds]string{"wait", "grant", "release", "loss", "retry", "answer"}[k]
}

// Event is one thing that happened in a recipe, for logs and metrics.
type Event struct {
	Kind EventKind
	Path string        // of the recipe
	Took time.Duration // see the kinds
	Err  error         // see the kinds
}

// Observe passes events to a function: LogEvents, Count of EventCounts, or your own. Several
// goroutines of the recipe call the function, so it must neither block nor call the recipe. The
// option may be given several times. Without it nothing is measured.
func Observe(observer func(Event)) Option {
	return func(o *request.Options) {
		o.Observers = append(o.Observers, func(e request.Event) {
			observer(Event{Kind: EventKind(e.Kind), Path: e.Path, Took: e.Took, Err: e.Err})
		})
	}
}

// LogEvents returns an observer that logs events: losses and retries as warnings, the others for
// debugging.
func LogEvents(log *slog.Logger) func(Event) {
	return func(e Event) {
		level := slog.LevelDebug
		if e.Kind == EventLoss || e.Kind == EventRetry {
			level = slog.LevelWarn
		}
		attrs := []slog.Attr{slog.String("path", e.Path)}
		if e.Took > 0 {
			attrs = append(attrs, slog.Duration("took", e.Took))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.Any("err", e.Err))
		}
		log.LogAttrs(context.Background(), level, e.Kind.String(), attrs...)
	}
}

// EventCounts counts events by kind. It is an expvar.Var. The zero value is ready.
type EventCounts struct{ counts [eventKinds]atomic.Int64 }

// Count counts an event. It is an observer.
func (c *EventCounts) Count(e Event) { c.counts[e.Kind].Add(1) }

// Of returns the number of events of a kind so far.
func (c *EventCounts) Of(kind EventKind) int64 { return c.counts[kind].Load() }

// String returns the counts as JSON.
func (c *EventCounts) String() string {
	text := "{"
	for kind := range EventKind(eventKinds) {
		if kind > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q: %d", kind.String(), c.Of(kind))
	}
	return text + "}"
}
