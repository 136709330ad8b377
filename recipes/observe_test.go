package recipes_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// observed collects events.
type observed struct {
	mu     sync.Mutex
	events []Event
}

func (o *observed) add(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, e)
}

// event is the n-th event so far, from 0.
func (o *observed) event(n int) Event {
	time.Sleep(time.Millisecond) // see kinds
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.events[n]
}

// kinds returns the kinds so far, and forgets the events.
func (o *observed) kinds() string {
	time.Sleep(time.Millisecond) // the end of a hold is told in the background
	o.mu.Lock()
	defer o.mu.Unlock()
	var kinds []string
	for _, e := range o.events {
		kinds = append(kinds, e.Kind.String())
	}
	o.events = nil
	return strings.Join(kinds, " ")
}

func TestObserversHearOfWaitsAndHolds(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		var seen observed
		c := s.Connect()
		holder, l := k.excluding(s.Connect()), k.open(c, Observe(seen.add))
		mustLock(t, holder)
		got := waiting(t, l.Lock)
		time.Sleep(3 * time.Second)
		mustUnlock(t, holder)
		check.OK(t, <-got)
		if took := seen.event(1).Took; took < 3*time.Second || took > 5*time.Second {
			t.Errorf("the grant came after %v; expected 3s and the start", took)
		}
		check.Equal(t, seen.kinds(), "wait grant")
		mustUnlock(t, l)
		check.Equal(t, seen.kinds(), "release")
		mustLock(t, l)
		check.Equal(t, seen.kinds(), "grant")
		time.Sleep(time.Second)
		c.Expire()
		if took := seen.event(0).Took; took < time.Second || took > 2*time.Second {
			t.Errorf("held for %v; expected 1s", took)
		}
		check.Equal(t, seen.kinds(), "loss")
		mustClose(t, l)
		mustClose(t, holder)
	})
}

func TestObserversHearOfLostReplies(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var seen observed
		var counts EventCounts
		s.Seed("/l", "")
		l := NewLock(c, "/l", Observe(seen.add), Observe(counts.Count))
		c.On("create", 1, rule{Fault: fault.DropReply})
		mustLock(t, l)
		check.Is(t, seen.event(0).Err, zk.ErrConnectionClosed)
		check.Equal(t, seen.event(1).Path, "/l")
		check.Equal(t, seen.kinds(), "retry answer grant")
		mustClose(t, l)
		check.Equal(t, fmt.Sprint(&counts),
			`{"wait": 0, "grant": 1, "release": 1, "loss": 0, "retry": 1, "answer": 1}`)
	})
}

// TestObserversHearOfLeadership, each term of it.
func TestObserversHearOfLeadership(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var seen observed
		latch := started(t, NewLeaderLatch(c, "/e", "a", Observe(seen.add)))
		mustLead(t, latch)
		c.Expire()
		mustLead(t, latch)
		mustClose(t, latch)
		check.Equal(t, seen.kinds(), "grant loss grant release")
	})
}

func TestEventsAreLogged(t *testing.T) {
	var text strings.Builder
	log := LogEvents(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
	log(Event{Kind: EventWait, Path: "/l"})
	log(Event{Kind: EventGrant, Path: "/l", Took: time.Second})
	log(Event{Kind: EventRelease, Path: "/l", Took: time.Second})
	log(Event{Kind: EventLoss, Path: "/l"})
	log(Event{Kind: EventRetry, Path: "/l", Err: context.Canceled})
	log(Event{Kind: EventAnswer, Path: "/l", Took: time.Second})
	check.Equal(t, text.String(), `level=DEBUG msg=wait path=/l
level=INFO msg=grant path=/l took=1s
level=INFO msg=release path=/l took=1s
level=WARN msg=loss path=/l
level=WARN msg=retry path=/l err="context canceled"
level=INFO msg=answer path=/l took=1s
`)
}
