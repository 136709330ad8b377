package recipes

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Option changes a setting of a recipe when it is made.
type Option func(*request.Options)

// ACL sets the access control list of every node that the recipe creates, parents included. Without
// it every client may do everything.
func ACL(acl ...zk.ACL) Option {
	acl = slices.Clone(acl)
	return func(o *request.Options) { o.ACL = acl }
}

// Data sets the data of the node with which a handle waits or holds: the node of a lock, a lease, a
// turn, a candidate or a barrier. It is for people who read the tree: a host name, for instance.
// Recipes that keep other data in their nodes ignore it; the constructors name the options that
// matter.
func Data(data []byte) Option {
	data = bytes.Clone(data)
	return func(o *request.Options) { o.Data = data }
}

// SessionTimeout sets the session timeout that the server has granted. Lost is closed when the
// connection has been down so long that the session may have expired at the server. The client does
// not export the granted timeout, so the default is 4 s, the shortest timeout that a server grants
// by default. Lost is then closed about 1 s after the client has seen the connection go down.
//
// Give the granted timeout if it is longer, so that a hold outlives longer reconnections. A
// reconnection takes more than a second if the client knows one server only. Give the granted
// timeout also if it is shorter: with the default, Lost is then closed too late. When in doubt give
// a smaller timeout. With zero or less, Lost is not closed for this reason: a disconnected holder
// learns of the end of its session only when it reaches a server again.
//
// The client notices a silent connection after two thirds of the timeout. So at most a third of the
// timeout is left when the connection is seen to be down. The recipe reads Conn.State twenty times
// per timeout, measures by the monotonic clock, and sends no request. It assumes that the clocks of
// client and server run at the same rate, and that a reply takes less than a tenth of the timeout.
// A process that is paused at the wrong moment still learns of the loss too late.
func SessionTimeout(timeout time.Duration) Option {
	return func(o *request.Options) { o.SessionTimeout = timeout }
}

// RecheckEvery sets the interval at which a recipe reads its nodes again without a notification,
// while it waits or keeps a copy. A recipe with many nodes reads all of them at least that often,
// also if there were notifications in between. The default is one minute. With zero or less the
// recipe relies on watches alone.
//
// It is needed because the client can lose a change. On a reconnection it asks for the changes
// since the newest zxid in any reply. If the connection is lost again just after such a reply, the
// client misses the changes before that zxid. If it fails to set its watches again, it only logs
// the failure (samuel/go-zookeeper issue 83).
func RecheckEvery(interval time.Duration) Option {
	return func(o *request.Options) { o.Recheck = interval }
}

// Retry sets the policy for repeated requests. Without it a request is repeated until the
// operation's context is done (RetryForever).
//
// When the policy gives up, the operation ends as if its context were done. The error wraps
// ErrGaveUp and the last failure, and gives the number of requests. It also wraps ErrAmbiguous if
// it is unknown whether the operation was applied. A policy bounds neither clean-up, which goes on
// in the background, nor the background work of a recipe.
func Retry(policy RetryPolicy) Option {
	return func(o *request.Options) { o.Retry = policy }
}

// Containers makes a recipe create missing parents as container nodes. The server removes a
// container some time after its last child is gone, so unused directories do not pile up. Servers
// before 3.5 have no containers: there the parents are persistent nodes. Existing parents are left
// as they are.
func Containers() Option {
	return func(o *request.Options) { o.Containers = true }
}

// EphemeralElements makes Offer create ephemeral elements: an element that was not taken goes with
// the session that has offered it. Without this option elements stay until they are taken. An
// element may be gone when Offer returns, since its session may end at any time. It is not offered
// again. A Poll or Take that is given up after it has removed an ephemeral element cannot put the
// element back for the session that has offered it: the element is lost, and the error wraps
// ErrAmbiguous.
func EphemeralElements() Option {
	return func(o *request.Options) { o.Ephemeral = true }
}

// SyncOnly makes reads that are to be as new as their call cheaper, and a little older at times.
//
// Without it a recipe sends a write that changes nothing before such a read: the check of a node in
// a transaction of its own. It costs what a write costs, since a majority of the servers stores it
// on disk, and it needs a majority. With SyncOnly the recipe sends a sync, for which the leader
// asks nobody. A leader that was paused or cut off while the others have elected another one
// answers it, too, until it notices: after about one tickTime (two seconds by default) from when it
// goes on, or after syncLimit and one tickTime from when it was cut off. What is read there is as
// old as the new leader: it lacks all writes since. The promises "as it is at some moment of the
// call", "linearizable" and "was empty" then hold but for that time.
//
// Locks and elections look for their own nodes in the same way after a lost reply, so give the
// option to recipes that only read and write values, and to queues whose consumers ask again.
func SyncOnly() Option {
	return func(o *request.Options) { o.SyncOnly = true }
}

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

// LogEvents returns an observer, for [Observe], that logs events: losses and retries as warnings,
// grants, releases and answers after retries for information, and waits for debugging.
func LogEvents(log *slog.Logger) func(Event) {
	return func(e Event) {
		level := slog.LevelInfo
		switch e.Kind {
		case EventLoss, EventRetry:
			level = slog.LevelWarn
		case EventWait:
			level = slog.LevelDebug
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
