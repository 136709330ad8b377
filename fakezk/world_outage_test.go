package fakezk

import (
	"strings"
	"testing"
	"time"
)

// TestAShorterOutageDoesNotEndALongerOne, and counts as having struck.
func TestAShorterOutageDoesNotEndALongerOne(t *testing.T) {
	for _, c := range []struct{ long, short string }{
		{"refuse 10s client=a request=1", "refuse 100ms client=a at=1s"},
		{"blackhole 10s client=a request=1", "blackhole 100ms client=a at=1s"},
		{"restart 10s client=a request=1", "restart 100ms at=1s"},
	} {
		p := perform(t, c.long+"\n"+c.short, func(s *stage) {
			s.create("/before", 0)
			s.create("/after", 0)
		})
		if len(p.Missed) > 0 || len(p.Strikes) != 2 {
			t.Errorf("%s: missed %v, struck %v", c.long, p.Missed, p.Strikes)
		}
		if at := secondConnection(p); at < 10*time.Second {
			t.Errorf("%s: the client is let in after %s:\n%s", c.long, at, p.Trace)
		}
	}
}

// secondConnection is when the client was let in again.
func secondConnection(p *play) time.Duration {
	connections := 0
	for n := int64(1); n <= int64(p.Trace.Len()); n++ {
		if e := p.Trace.Entry(n); strings.HasPrefix(e.Text, "connects (") {
			if connections++; connections == 2 {
				return e.Time
			}
		}
	}
	return 0
}
