package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"

	"github.com/zksim/zksim/fakezk/fault"
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

// TestNothingStrikesAfterTheScripts, not even on a message that another fault held when the scripts
// ended.
func TestNothingStrikesAfterTheScripts(t *testing.T) {
	hold, err := fault.Parse("delay 2s client=a op=exists request=1")
	check.OK(t, err)
	refuse, err := fault.Parse("refuse 10s client=a op=exists request=1")
	check.OK(t, err)
	p, err := World{Plan: []fault.Fault{hold, refuse},
		Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
			go c.Conn().Exists("/")
			_ = c.Sleep(ctx, time.Second)
		})}}.Run()
	check.OK(t, err)
	if len(p.Strikes) != 1 || len(p.Missed) != 1 || p.Missed[0].Kind != fault.Refuse {
		t.Errorf("struck %v, missed %v; want the delay to strike only\n%s", p.Strikes,
			p.Missed, p.Trace)
	}
}

// TestWhatFoundNothingHasNotStruck: a fault is among the strikes or among the missed.
func TestWhatFoundNothingHasNotStruck(t *testing.T) {
	idle := actor("a", func(ctx context.Context, c *Client) { _ = c.Sleep(ctx, 10*time.Second) })
	for _, what := range []string{"refuse 1s", "blackhole 1s", "cut", "stall 1s", "expire",
		"late-reap-unlike-3.8 1s"} {
		r := mustRun(t, World{Clients: []Actor{idle}, Plan: parse(t, what+" client=a at=2s")})
		if len(r.Missed) != 1 || len(r.Strikes) != 0 {
			t.Errorf("%s: missed %v, struck %v", what, r.Missed, r.Strikes)
		}
	}
	p := perform(t, "refuse 1s client=a at=1ns", func(s *stage) { s.create("/n", 0) })
	if len(p.Missed) != 0 || len(p.Strikes) != 1 {
		t.Errorf("a dial is refused: missed %v, struck %v", p.Missed, p.Strikes)
	}
	// Of two faults on one request the first may leave nothing to the second.
	r := mustRun(t, World{Clients: lockers(1, 1),
		Plan: parse(t, "drop-request client=a request=1\nexpire client=a request=1")})
	if len(r.Missed) != 1 || r.Missed[0].Kind != fault.Expire {
		t.Errorf("missed %v; expected the expire", r.Missed)
	}
}
