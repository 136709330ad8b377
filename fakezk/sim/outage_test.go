package sim

import (
	"context"
	"strings"
	"testing"
	"time"

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

// TestWhatFoundNothingHasNotStruck: a fault is among the strikes or among the missed.
func TestWhatFoundNothingHasNotStruck(t *testing.T) {
	for _, line := range []string{"expire client=a at=1ns", "cut client=a at=1ns",
		"stall 1s client=a at=1ns"} {
		f, err := fault.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		p, err := World{Plan: []fault.Fault{f},
			Clients: []Actor{actor("a", func(context.Context, *Client) {})}}.Run()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Missed) != 1 || len(p.Strikes) != 0 {
			t.Errorf("%s: missed %v, struck %v", line, p.Missed, p.Strikes)
		}
	}
	p := perform(t, "refuse 1s client=a at=1ns", func(s *stage) { s.create("/n", 0) })
	if len(p.Missed) != 0 || len(p.Strikes) != 1 {
		t.Errorf("a dial is refused: missed %v, struck %v", p.Missed, p.Strikes)
	}
}

// TestNothingStrikesAfterTheScripts, not even on a message that another fault held when the scripts
// ended.
func TestNothingStrikesAfterTheScripts(t *testing.T) {
	hold, err := fault.Parse("delay 2s client=a op=exists request=1")
	if err != nil {
		t.Fatal(err)
	}
	refuse, err := fault.Parse("refuse 10s client=a op=exists request=1")
	if err != nil {
		t.Fatal(err)
	}
	p, err := World{Plan: []fault.Fault{hold, refuse},
		Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
			go c.Conn().Exists("/")
			_ = c.Sleep(ctx, time.Second)
		})}}.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Strikes) != 1 || len(p.Missed) != 1 || p.Missed[0].Kind != fault.Refuse {
		t.Errorf("struck %v, missed %v; want the delay to strike only\n%s", p.Strikes,
			p.Missed, p.Trace)
	}
}
