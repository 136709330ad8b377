package fakezk

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fakezk/view"
)

// maxHistory is the number of records of Options.Trace that are kept. maxRecordText bounds the text
// and the path of a record, in bytes: a request may have a million paths.
const (
	maxHistory    = 1000
	maxRecordText = 2000
)

// history keeps the last records of what happens at a server. The server's mutex guards it. A nil
// history keeps none.
type history struct {
	began   time.Time
	records []view.Record // a ring: record n is at index (n-1) % maxHistory
	count   int64
	more    chan struct{} // closed when there is a new record; nil if no caller waits for one
}

func newHistory(wanted bool, now time.Time) *history {
	if !wanted {
		return nil
	}
	return &history{began: now}
}

// add keeps a record, which gets its number and time.
func (h *history) add(r view.Record) {
	h.count++
	r.Number, r.Time = h.count, time.Now()
	r.Path, r.Text = cut(r.Path), cut(r.Text)
	if len(h.records) < maxHistory {
		h.records = append(h.records, r)
	} else {
		h.records[(h.count-1)%maxHistory] = r
	}
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
}

// cut shortens a text to maxRecordText bytes, and adds dots if something is missing.
func cut(text string) string {
	if len(text) <= maxRecordText {
		return text
	}
	return strings.ToValidUTF8(text[:maxRecordText], "") + "..."
}

// dataOf is a copy of the data of a request, as far as a record keeps it.
func dataOf(data []byte) []byte { return slices.Clone(data[:min(len(data), maxRecordText)]) }

// addEvent adds an event in the words of the log.
func (h *history) addEvent(message string, attrs []slog.Attr) {
	r := view.Record{Kind: view.EventRecord}
	if message == faultMessage {
		r.Kind = view.FaultRecord
	}
	for _, a := range attrs {
		if a.Key == sessionKey {
			r.Session = a.Value.String()
			continue
		}
		message += " " + a.String()
	}
	r.Text = message
	h.add(r)
}

// since lists the records with a number above after, oldest first.
func (h *history) since(after int64) []view.Record {
	if h == nil {
		return nil
	}
	var list []view.Record
	for n := max(after, h.count-int64(len(h.records)), 0) + 1; n <= h.count; n++ {
		list = append(list, h.records[(n-1)%maxHistory])
	}
	return list
}

// nextRecord returns a channel that is closed when there is a new record.
func (h *history) nextRecord() <-chan struct{} {
	if h.more == nil {
		h.more = make(chan struct{})
	}
	return h.more
}

// String has a line for each record, oldest first.
func (h *history) String() string {
	var b strings.Builder
	for _, r := range h.since(0) {
		line := trace.Entry{
			Step: r.Number, Time: r.Time.Sub(h.began), Actor: r.Session, Text: r.Text,
		}
		if line.Actor == "" {
			line.Actor = "server"
		}
		b.WriteString(line.String() + "\n")
	}
	return b.String()
}

// History lists the records of Options.Trace with a number above after, oldest first: at most the
// last 1,000. If the first of them has a number above after+1, the records between were dropped.
func (s *Server) History(after int64) []view.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recorder.history.since(after)
}

// AwaitHistory is like History, but waits until there is a record. It returns the error of a
// context that is done, and ErrStopped when the server is closed.
func (s *Server) AwaitHistory(ctx context.Context, after int64) ([]view.Record, error) {
	h := s.recorder.history
	if h == nil {
		return nil, errors.New("fakezk: await history: needs Options.Trace")
	}
	for {
		s.mu.Lock()
		records, more := h.since(after), h.nextRecord()
		s.mu.Unlock()
		if len(records) > 0 {
			return records, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.front.closing:
			return nil, ErrStopped
		}
	}
}
