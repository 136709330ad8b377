package request

import "time"

// EventKind is a kind of event.
type EventKind int

const (
	EventWait    EventKind = iota // an operation begins to wait for other clients
	EventGrant                    // something is held from now on
	EventRelease                  // the holder has given the hold back
	EventLoss                     // the hold is lost, or may be
	EventRetry                    // a request got no answer
	EventAnswer                   // a request got an answer after retries
)

// Event is one thing that happened in a recipe, for its observers.
type Event struct {
	Kind EventKind
	Path string        // of the recipe
	Took time.Duration // of the wait, of the hold, or since the first failure
	Err  error         // the failure, or the answer
}

// Tell passes an event to the observers.
func (o *Options) Tell(e Event) {
	for _, observer := range o.Observers {
		observer(e)
	}
}

// NoteWaiting notes that the operation waits for other clients.
func (r *Sender) NoteWaiting() {
	if len(r.Opts.Observers) == 0 || !r.waiting.IsZero() {
		return
	}
	r.waiting = time.Now()
	r.Opts.Tell(Event{Kind: EventWait, Path: r.path})
}

// EndWaiting begins the time of the wait anew.
func (r *Sender) EndWaiting() { r.waiting = time.Time{} }

// Waited returns how long the operation has waited for other clients.
func (r *Sender) Waited() time.Duration {
	if r.waiting.IsZero() {
		return 0
	}
	return time.Since(r.waiting)
}

// answeredWith notes an answer after failures.
func (r *Sender) answeredWith(err error) {
	if len(r.Opts.Observers) > 0 && r.backoff.repeats > 0 {
		took := time.Since(r.backoff.began)
		r.Opts.Tell(Event{Kind: EventAnswer, Path: r.path, Took: took, Err: err})
	}
}
