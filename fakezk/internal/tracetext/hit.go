package tracetext

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/trace"
)

// Hit is a fault that acts on a message of a client: the line for the trace, and the
// record for the Result.
func Hit(f fault.Fault, client string, m *carry.Message) (string, trace.Strike) {
	strike := trace.Strike{Fault: f, Client: client, Op: m.Point.Op, Path: m.Point.Path}
	what := fmt.Sprintf("#%d %s", m.Number, strings.TrimSpace(strike.Op+" "+strike.Path))
	if m.Event != nil {
		strike.Op, strike.Path = m.Event.Type.String(), m.Event.Path
		what = Event(*m.Event).String()
	}
	return fmt.Sprintf("%s hits %s's %s", f, client, what), strike
}

// Point is a request as a coordinate.
func Point(m *carry.Message) trace.RequestPoint {
	p := m.Point
	return trace.RequestPoint{
		Client: p.Client, Number: m.Number, Conn: p.Conn, Op: p.Op, Path: p.Path,
	}
}
