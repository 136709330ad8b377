package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// TestMessagesJoinTheirLines: each message that arrived names the lines at both of its ends.
func TestMessagesJoinTheirLines(t *testing.T) {
	r := mustRun(t, World{Seed: 3, Clients: lockers(3, 2), Settle: 10 * time.Second,
		Plan: []fault.Fault{{Kind: fault.Cut, Client: "a", Request: 2}}})
	kinds := map[string]int{}
	for _, m := range r.Messages() {
		if m.Lost {
			continue
		}
		from, at := r.Trace.Entry(m.From), r.Trace.Entry(m.Step)
		if m.Sent >= at.Time || m.Sent > from.Time {
			t.Errorf("%+v was sent before line %d, and arrived at %v", m, m.From, at.Time)
		}
		want, cause := "-> ", ""
		switch {
		case m.Up && m.Op != "connect" && m.Op != "ping":
			want, cause = "-> #", ""
		case !m.Up && m.Op != "":
			want, cause = "<- event "+m.Op, "notifies "+m.Client
		case !m.Up:
			want, cause = "<- ", "-> "
		}
		if at.Actor != m.Client || !strings.HasPrefix(at.Text, want) && m.Op != "closeSession" {
			t.Errorf("%+v arrived at %v", m, at)
		}
		if !strings.HasPrefix(from.Text, cause) {
			t.Errorf("%+v was caused by %v", m, from)
		}
		kinds[want]++
	}
	for _, kind := range []string{"-> ", "-> #", "<- ", "<- event NodeDeleted"} {
		if kinds[kind] == 0 {
			t.Errorf("no message %s: %v", kind, kinds)
		}
	}
	arrivals := 0
	for n := range int64(r.Trace.Len()) {
		if e := r.Trace.Entry(n + 1); strings.HasPrefix(e.Text, "-> ") ||
			strings.HasPrefix(e.Text, "<- ") {
			arrivals++
		}
	}
	check.Equal(t, kinds["-> "]+kinds["-> #"]+kinds["<- "]+kinds["<- event NodeDeleted"],
		arrivals, "messages that have arrived, by lines")
}

// TestLostMessagesNameTheFault: a message that a fault took ends at the line of the fault, and one
// in a black hole has no end.
func TestLostMessagesNameTheFault(t *testing.T) {
	for kind, length := range map[fault.Kind]time.Duration{
		fault.DropRequest: 0, fault.Blackhole: 8 * time.Second,
	} {
		r := mustRun(t, World{Seed: 3, Clients: lockers(2, 1), Plan: []fault.Fault{
			{Kind: kind, Client: "a", Request: 2, For: length}}})
		strike := r.Strikes[0].Step
		var taken, vanished int
		for _, m := range r.Messages() {
			switch {
			case m.Lost && m.Step == strike && m.Op == r.Strikes[0].Op:
				taken++
			case m.Lost && m.Step == 0 && m.Op == "ping":
				vanished++
			}
		}
		if taken != 1 || (vanished > 0) != (kind == fault.Blackhole) {
			t.Errorf("%s took %d messages, and %d pings vanished", kind, taken, vanished)
		}
	}
}

// TestALostReplyIsAMessage: also if half of it arrives. A reply whose half is late arrives.
func TestALostReplyIsAMessage(t *testing.T) {
	for kind, lost := range map[fault.Kind]bool{
		fault.DropReply: true, fault.CutMidFrame: true,
		fault.Cut: false, fault.StallMidFrame: false,
	} {
		f := fault.Fault{Kind: kind, Client: "a", Request: 2}
		if kind == fault.StallMidFrame {
			f.For = time.Second
		}
		r := mustRun(t, World{Seed: 3, Clients: lockers(1, 1), Plan: []fault.Fault{f}})
		replies := 0
		for _, m := range r.Messages() {
			if !m.Up && (m.Lost || m.From == r.Requests[1].Step) {
				replies++
				check.Equal(t, m.Lost, lost, "%s: %+v is lost", kind, m)
			}
		}
		check.Equal(t, replies, 1, "%s: replies to request 2, or lost ones", kind)
	}
}

// TestSendersAreFound of each request, and the run is no other one.
func TestSendersAreFound(t *testing.T) {
	w := World{Seed: 3, Clients: lockers(3, 2)}
	plain := mustRun(t, w)
	w.Senders = true
	r := mustRun(t, w)
	check.Equal(t, r.Trace.Hash(), plain.Trace.Hash(), "trace")
	check.Equal(t, len(r.Senders)-len(plain.Senders), len(r.Requests), "senders")
	for _, s := range r.Senders {
		check.Equal(t, s.Goroutine, r.Messages()[s.Message].Client, "goroutine")
		check.Contains(t, s.Stack, "zk.(*Lock).")
	}
}
