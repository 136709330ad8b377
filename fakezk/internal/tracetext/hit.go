package tracetext

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/trace"
)

// Log writes a line of a trace.
type Log func(actor, format string, args ...any) trace.Moment

// LogDue writes and notes that the time of a fault has come.
func LogDue(log Log, notes *trace.Notes, f *carry.Armed) {
	notes.Strike(log("fault", "%s", f.Fault), trace.Strike{Fault: f.Fault, Client: f.Client},
		&f.Fired)
}

// LogHit writes and notes that a fault acts on a message of a client. Taken says that the message
// goes no further.
func LogHit(
	log Log, notes *trace.Notes, c *carry.Client, m *carry.Message, f *carry.Armed, taken bool,
) trace.Moment {
	strike := trace.Strike{Fault: f.Fault, Client: c.Name, Op: m.Point.Op, Path: m.Point.Path}
	what := strings.TrimSpace(fmt.Sprintf("#%d %s %s", m.Number, strike.Op, strike.Path))
	if m.Event != nil {
		strike.Op, strike.Path = m.Event.Type.String(), m.Event.Path
		what = Event(*m.Event).String()
	}
	at := log("fault", "%s hits %s's %s", f.Fault, c.Name, what)
	notes.Strike(at, strike, &f.Fired)
	if taken && m.Event == nil {
		notes.Request(at, Point(m))
	}
	return at
}

// Point is a request as a coordinate.
func Point(m *carry.Message) trace.RequestPoint {
	p := m.Point
	return trace.RequestPoint{
		Client: p.Client, Number: m.Number, Conn: p.Conn, Server: p.Server, Op: p.Op,
		Path: p.Path,
	}
}
