package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk"
)

// The requests of this file take long: those with the parameter wait, and event streams.

// forever is the wait of an event stream.
const forever time.Duration = math.MaxInt64

// wait reads how long a request may wait, 0 for not at all.
func (o route) wait(r *http.Request) (time.Duration, error) {
	query := r.URL.Query()
	switch {
	case o.handle.stream:
		return forever, nil
	case !slices.Contains(o.query, "wait") || !query.Has("wait"):
		return 0, nil
	}
	d, err := time.ParseDuration(query.Get("wait"))
	if err != nil || d <= 0 || d > longestWait {
		return 0, fmt.Errorf("wait=%s: expected a duration such as 10s, at most %s",
			query.Get("wait"), longestWait)
	}
	return d, nil
}

// room is where a request has a place during its work.
func (o route) room(wait time.Duration) chan struct{} {
	switch {
	case wait > 0:
		return o.control.waiting
	case o.whole:
		return o.control.whole
	}
	return o.control.working
}

// enter takes a place in a room, and sets the context. leave frees the place. A request that would
// wait for its place, in order to wait there, is refused.
func (r *request) enter(room chan struct{}, wait time.Duration) (leave func(), err error) {
	if r.control.closing.Load() { // since it was admitted
		return nil, errStops
	}
	select {
	case room <- struct{}{}:
	default:
		if wait > 0 {
			return nil, failure(http.StatusServiceUnavailable,
				"%d requests and event streams wait already", maxWaiting)
		}
		select {
		case room <- struct{}{}:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-r.control.ended.Done():
			return nil, errStops
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	r.ctx = ctx
	ended := context.AfterFunc(r.control.ended, cancel)
	return func() {
		ended()
		cancel()
		<-room
	}, nil
}

// endDeadlines ends the deadlines of the server for one request, whose body has been read.
// Response writers of tests have no deadlines.
func endDeadlines(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	setWriteDeadline(w, time.Time{})
}

func setWriteDeadline(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetWriteDeadline(at)
}

// ending is the error of a wait that has ended: nil if its time is over.
func (r *request) ending(err error) error {
	switch {
	case errors.Is(err, fakezk.ErrStopped) && r.name != "":
		return noNamespace(r.name)
	case errors.Is(err, fakezk.ErrStopped), r.control.closing.Load():
		return errStops
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

// eventStream is the reply that sends records as they come.
type eventStream struct {
	*request
	filter recordFilter
	after  int64
	leave  func()
}

// stream is the answer of a handler of streams, which leaves the room at its end.
func (r *request) stream(h handler, leave func()) (answer, error) {
	made, err := h.make(r)
	if err != nil {
		leave()
		return nil, err
	}
	s := made.(*eventStream)
	s.leave = leave
	return s, nil
}

// getEvents prefers the header Last-Event-ID, which a browser sends when it connects again.
func getEvents(r *request) (*eventStream, error) {
	name, text := "after", r.URL.Query().Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		name, text = "Last-Event-ID", last
	}
	after, err := r.after(name, text)
	if err != nil {
		return nil, err
	}
	filter, err := r.filter()
	return &eventStream{request: r, filter: filter, after: after}, err
}

// send writes records until the client goes, or the server ends.
func (s *eventStream) send(w http.ResponseWriter) error {
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	chunk := []byte(": the history of zksim serve\n\n")
	for {
		setWriteDeadline(w, time.Now().Add(pieceTimeout))
		if _, err := w.Write(chunk); err != nil {
			return err
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		var err error
		if chunk, err = s.next(); err != nil {
			return nil // the client has gone, or there is nothing more to come
		}
	}
}

// next waits for records, of which it takes a part if there are many.
func (s *eventStream) next() ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.ctx, heartbeat)
	defer cancel()
	records, err := s.AwaitHistory(ctx, s.after)
	if errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil {
		return []byte(": still here\n\n"), nil
	}
	if err != nil {
		return nil, err
	}
	part := s.filter.part(records[:min(len(records), streamRecords)], s.after)
	s.after = part.Last
	return part.events()
}

// events are the records as server-sent events. The last line sets the number from which a browser
// resumes, also past records that were filtered out.
func (part historyEntry) events() (chunk []byte, err error) {
	if part.Lost > 0 {
		chunk = fmt.Appendf(chunk, "event: lost\ndata: {\"lost\":%d}\n\n", part.Lost)
	}
	for _, r := range part.Records {
		var data bytes.Buffer
		if err := encodeJSON(&data, r, "", ""); err != nil {
			return nil, fmt.Errorf("encode event: %w", err)
		}
		chunk = fmt.Appendf(chunk, "id: %d\ndata: %s\n", r.Number, &data)
	}
	return fmt.Appendf(chunk, "id: %d\n\n", part.Last), nil
}
