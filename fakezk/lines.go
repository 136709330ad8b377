package fakezk

import (
	"log/slog"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// maxTraceLines is how many lines of Options.Trace are kept.
const maxTraceLines = 1000

// lastLines keeps the last lines of what happens at a server. The server's mutex guards it. A nil
// lastLines keeps none.
type lastLines struct {
	began time.Time
	lines []trace.Entry // a ring: line n is at index (n-1) % maxTraceLines
	count int64
}

func newLastLines(wanted bool, now time.Time) *lastLines {
	if !wanted {
		return nil
	}
	return &lastLines{began: now}
}

func (l *lastLines) add(actor, text string) {
	l.count++
	line := trace.Entry{Step: l.count, Time: time.Since(l.began), Actor: actor, Text: text}
	if len(l.lines) < maxTraceLines {
		l.lines = append(l.lines, line)
		return
	}
	l.lines[(l.count-1)%maxTraceLines] = line
}

// addEvent adds an event in the words of the log. The attribute session is the actor.
func (l *lastLines) addEvent(message string, attrs []slog.Attr) {
	actor := "server"
	for _, a := range attrs {
		if a.Key == sessionKey {
			actor = a.Value.String()
			continue
		}
		message += " " + a.String()
	}
	l.add(actor, message)
}

// String is the lines, oldest first.
func (l *lastLines) String() string {
	var b strings.Builder
	for i := range l.lines {
		line := l.lines[(l.count+int64(i))%int64(len(l.lines))]
		b.WriteString(line.String() + "\n")
	}
	return b.String()
}

// traceText is the trace of Options.Trace, "" without it.
func (s *Server) traceText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		return ""
	}
	return s.lines.String()
}

// traceRequest adds a request that the server has handled.
func (s *Server) traceRequest(l *serverLink, r engine.Request) {
	if s.lines != nil && !r.Handshake && r.Body != nil && r.Header.Op != proto.OpPing {
		s.lines.add(l.name, "-> "+tracetext.Request(r).String())
	}
}

// traceEvent adds a notification on its way to a session.
func (s *Server) traceEvent(l *serverLink, out engine.Output) {
	if s.lines != nil && out.Event != nil {
		s.lines.add(l.name, "<- "+tracetext.Event(*out.Event).String())
	}
}
