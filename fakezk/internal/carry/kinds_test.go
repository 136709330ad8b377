package carry

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/internal/check"
)

// TestEveryKindHasItsCase: a kind of package fault is in the table, with something
// to do at each coordinate that it takes and at no other.
func TestEveryKindHasItsCase(t *testing.T) {
	for _, info := range fault.Kinds() {
		r, ok := ruleOf(info.Kind)
		if !ok {
			t.Errorf("%s has no case in ruleOf", info.Kind)
			continue
		}
		if before, after := r.request != nil, r.reply != nil; before && after ||
			info.OnRequest != (before || after) {
			t.Errorf("%s at a request: acts before it %t, damages the reply %t", info.Kind,
				before, after)
		}
		if info.OnEvent != (r.event != nil) || info.OnTime != (r.time != nil) {
			t.Errorf("%s: acts on events %t, at a time %t", info.Kind, r.event != nil,
				r.time != nil)
		}
	}
	if _, ok := ruleOf("explode"); ok {
		t.Error("an unknown kind has a case")
	}
}

// kindTests have the effect of each kind at each of its coordinates, at second 1. A request comes
// on connection 1 of a. If it is damaged, the server's output for it follows behind a slash: an
// event, the reply, the end. A notification goes to the same connection. A time concerns all
// connections.
var kindTests = []struct{ line, want string }{
	{"drop-request request=1", "struck 1 taken, sever 1, send 1 reset"},
	{"drop-reply request=1", "struck 1, apply 1 damaged / sever 1, send 1 reset"},
	{"cut request=1", "struck 1, apply 1 damaged / send 1 event, send 1 reply, sever 1, send 1 reset"},
	{"cut event=1", "struck 1 taken, reset 1 reset"},
	{"cut at=1s", "sever 1, send 1 reset, sever 2, send 2 reset, sever 3, send 3 reset, struck"},
	{"cut-mid-frame request=1",
		"struck 1, apply 1 damaged / send 1 event, send 1 re, sever 1, send 1 reset"},
	{"cut-mid-frame event=1", "struck 1 taken, deliver 1 ev, reset 1 reset"},
	{"stall 3s request=1", "struck 1, later 1 at 4s"},
	{"stall 3s event=1", "struck 1, later 1 at 4s"},
	{"stall 3s at=1s", "struck"},
	{"stall-mid-frame 3s request=1",
		"struck 1, apply 1 damaged / send 1 event, send 1 re, send 1 ply at 4s, sever 1, send 1 " +
			"closed"},
	{"stall-mid-frame 3s event=1", "struck 1, deliver 1 ev, later 1 at 4s"},
	{"delay 3s request=1", "struck 1, later 1 at 4s"},
	{"delay 3s event=1", "struck 1, later 1 at 4s"},
	{"pause 3s request=1",
		"struck 1, pause 1 at 4s, apply 1 / send 1 event, send 1 reply, sever 1, send 1 closed"},
	{"blackhole 3s request=1", "struck 1 taken, vanish 1, vanish 2"},
	{"blackhole 3s at=1s", "vanish 1, vanish 2, vanish 3, struck"},
	{"refuse 3s request=1", "struck 1 taken, sever 1, send 1 reset, sever 2, send 2 reset"},
	{"refuse 3s at=1s", "sever 1, send 1 reset, sever 2, send 2 reset, sever 3, send 3 reset, struck"},
	{"expire request=1", "struck 1 taken, expire 1"},
	{"expire at=1s", "expire of client 0, struck"},
	{"late-reap-unlike-3.8 3s request=1", "struck 1 taken, expire 1 late 3s"},
	{"late-reap-unlike-3.8 3s at=1s", "expire of client 0 late 3s, struck"},
	{"restart 3s request=1",
		"struck 1 taken, down, restart at 4s, sever 1, send 1 reset, sever 2, send 2 reset, sever 3, " +
			"send 3 reset"},
	{"restart 3s at=1s",
		"down, restart at 4s, sever 1, send 1 reset, sever 2, send 2 reset, sever 3, send 3 reset, " +
			"struck"},
	{"crash request=1", "struck 1 taken, sever 1, sever 2, crash at 1s"},
	{"crash at=1s", "sever 1, sever 2, sever 3, crash at 1s"},
	{"respawn 3s request=1", "struck 1 taken, sever 1, sever 2, crash at 4s"},
	{"respawn 3s at=1s", "sever 1, sever 2, sever 3, crash at 4s"},
	{"error NoAuth request=1", "struck 1, apply 1 refused NoAuth / send 1 event, send 1 reply, " +
		"sever 1, send 1 closed"},
	{"lag 3s request=1", "struck 1, lag at 4s, apply 1 / send 1 event, send 1 reply, sever 1, " +
		"send 1 closed"},
	{"lag 3s at=1s", "lag at 4s, struck"},
	{"isolate 3s request=1", "struck 1, isolate at 4s, later 1 at 4s"},
	{"isolate 3s at=1s", "isolate at 4s, struck"},
	{"pause-server 3s request=1", "struck 1, pause-server at 4s, later 1 at 4s"},
	{"pause-server 3s at=1s", "pause-server at 4s, struck"},
	{"elect 3s request=1", "struck 1 taken, elect at 4s"},
	{"elect 3s at=1s", "elect at 4s, struck"},
	{"failover-lose 3s request=1", "struck 1 taken, down, failover at 4s"},
	{"failover-lose 3s at=1s", "down, failover at 4s, struck"},
	{"failover-keep 3s request=1",
		"struck 1, apply 1 damaged / down, failover at 4s, sever 1, send 1 reset"},
}

func TestWhatEachKindDoes(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range kindTests {
		n := newTestNetwork(t, test.line)
		f := n.Armed()[0]
		point := "request"
		switch {
		case f.Event > 0:
			point = "event"
			n.want(test.line, notify(n.a1, second), test.want)
		case f.At > 0:
			point = "at"
			n.want(test.line, n.strikeDue(), test.want)
		default:
			check.Equal(t, requestWords(n), test.want, "%s", test.line)
		}
		check.Equal(t, f.Fired, f.At == 0 || !f.Kind.EndsProcess(), "%s: fired", test.line)
		tested[string(f.Kind)+" "+point] = true
	}
	for _, info := range fault.Kinds() {
		for point, takes := range map[string]bool{"request": info.OnRequest, "event": info.OnEvent,
			"at": info.OnTime} {
			check.Equal(t, tested[string(info.Kind)+" "+point], takes,
				"kindTests has a row for %s at %s=", info.Kind, point)
		}
	}
}

// TestAFaultOfOneServer leaves the connections to the others alone: here those of a1 and b.
func TestAFaultOfOneServer(t *testing.T) {
	for line, want := range map[string]string{
		"cut server=2 at=1s":             "sever 2, send 2 reset, struck",
		"refuse 3s server=2 at=1s":       "sever 2, send 2 reset, struck",
		"blackhole 3s server=2 at=1s":    "vanish 2, struck",
		"stall 3s server=2 at=1s":        "struck",
		"lag 3s server=2 at=1s":          "lag at 4s, struck",
		"isolate 3s server=2 at=1s":      "isolate at 4s, struck",
		"pause-server 3s server=2 at=1s": "pause-server at 4s, struck",
		"restart 3s server=2 at=1s":      "down, restart at 4s, sever 2, send 2 reset, struck",
	} {
		n := newTestNetwork(t, line)
		n.a2.Server = 1
		n.want(line, n.strikeDue(), want)
		answers := map[int]Answer{}
		for server := range 2 {
			answers[server], _, _ = n.Dial(0, server, 2*second)
		}
		refused := map[fault.Kind]Answer{
			fault.Refuse: Refused, fault.Blackhole: Hangs, fault.Restart: Refused,
		}[n.Armed()[0].Kind]
		if answers[0] != Accepted || answers[1] != refused {
			t.Errorf("%s: the dials of the servers end with %v", line, answers)
		}
	}
	n := newTestNetwork(t, "drop-request server=2 request=1")
	n.a2.Server = 1
	n.want("server 1", ask(n.a1, second), "apply 1")
	n.want("server 2", ask(n.a2, second), "struck 2 taken, sever 2, send 2 reset")
}

// strikeDue lets the faults that are due at second 1 strike, on all clients.
func (n testNetwork) strikeDue() (actions []Action) {
	for _, f := range n.Due(second) {
		actions = append(actions, n.strike(f, 0, second)...)
	}
	return actions
}

// requestWords prints the actions for a request of a1 and for the server's output.
func requestWords(n testNetwork) string {
	actions := ask(n.a1, second)
	r := &recorder{}
	Perform(actions, r)
	if !r.applies {
		return r.String()
	}
	f := r.applied
	var sent []Action
	sent = append(sent, n.a1.FromServer(event(), f, second)...)
	sent = append(sent, n.a1.FromServer(&Message{Bytes: []byte("reply")}, f, second)...)
	sent = append(sent, n.a1.ServerClosed(f)...)
	sent = append(sent, n.a1.Applied(f, second)...)
	return strings.Join([]string{r.String(), words(sent)}, " / ")
}

// TestWhatIsPutOffGoesOn: a delayed message is delivered at its time, after the next of its faults
// has acted, and counted once.
func TestWhatIsPutOffGoesOn(t *testing.T) {
	n := newTestNetwork(t, "delay 2s request=1", "stall 3s request=1", "drop-reply request=1",
		"cut request=3")
	n.want("first", ask(n.a1, second), "struck 1, later 1 at 3s")
	n.want("too early", n.a1.DeliverUp(3*second-1), "")
	n.want("second", n.a1.DeliverUp(3*second), "struck 1, later 1 at 6s")
	n.want("third", n.a1.DeliverUp(6*second), "struck 1, apply 1 damaged")
	n.want("another", ask(n.a1, 6*second), "apply 1")
	if missed := n.Missed(); len(missed) != 1 || missed[0].Kind != fault.Cut {
		t.Errorf("missed %v", missed)
	}
}

func TestRestOfAnEventIsDeliveredBeforeWhatFollows(t *testing.T) {
	marks.Expect(t, "rest of an event")
	n := newTestNetwork(t, "stall-mid-frame 2s event=1", "cut event=1")
	n.want("the event", notify(n.a1, second), "struck 1, deliver 1 ev, later 1 at 3s")
	n.a1.QueueDown(&Message{Bytes: []byte("reply")})
	n.want("too early", n.a1.DeliverDown(2*second), "")
	n.want("its rest", n.a1.DeliverDown(3*second), "deliver 1 ent") // which is no event any more
	n.want("the reply", n.a1.DeliverDown(3*second), "deliver 1 reply")
}

// TestDelayHoldsOneWay: a stall holds both.
func TestDelayHoldsOneWay(t *testing.T) {
	for line, down := range map[string]bool{
		"delay 2s request=1": false, "stall 2s request=1": true,
	} {
		n := newTestNetwork(t, line)
		ask(n.a1, second)
		if !n.a1.Up.Busy(2*second) || n.a1.Down.Busy(2*second) != down {
			t.Errorf("%s: the way up is held %t, down %t", line, n.a1.Up.Busy(2*second),
				n.a1.Down.Busy(2*second))
		}
	}
}

// TestAnErrorIsAReplyLikeOthers: another fault may act on it.
func TestAnErrorIsAReplyLikeOthers(t *testing.T) {
	n := newTestNetwork(t, "error NoAuth request=1", "delay 2s request=1", "drop-reply request=1")
	n.want("first", ask(n.a1, second), "struck 1, struck 1, later 1 at 3s")
	n.want("second", n.a1.DeliverUp(3*second), "struck 1, apply 1 refused NoAuth damaged")
	n.want("another", ask(n.a1, 3*second), "apply 1")
}

func TestNothingStrikesWhatIsHealed(t *testing.T) {
	n := newTestNetwork(t, "delay 2s request=1", "drop-reply request=1", "cut event=1",
		"restart 1h at=1s")
	ask(n.a1, second)
	n.Heal(0)
	n.want("a time", []Action{act(func(d Driver) { n.Strike(n.Due(second)[0], second, d) })}, "")
	n.want("what was put off", n.a1.DeliverUp(3*second), "apply 1")
	n.want("an event", notify(n.a1, second), "deliver 1 event")
}

// TestAFaultMissesWithoutATarget: the driver hears of its time all the same.
func TestAFaultMissesWithoutATarget(t *testing.T) {
	marks.Expect(t, "fault without a target")
	n := newTestNetwork(t, "restart 3s client=c at=1s", "cut client=a at=1s")
	due := n.Due(second)
	n.want("c", []Action{act(func(d Driver) { n.Strike(due[0], second, d) })}, "restart is due")
	n.want("a", []Action{act(func(d Driver) { n.Strike(due[1], second, d) })},
		"cut is due, sever 1, send 1 reset, sever 2, send 2 reset, struck")
	check.Equal(t, len(n.Missed()), 1, "missed")
}

// TestAFailoverEndsConnections to the leader, or to all servers if nobody knows who leads.
func TestAFailoverEndsConnections(t *testing.T) {
	marks.Expect(t, "leader unknown")
	ends := "down, sever 1, send 1 reset, sever 3, send 3 reset, "
	for _, test := range []struct {
		leader func() int
		want   string
	}{
		{func() int { return 1 }, "down, sever 2, send 2 reset, failover at 4s, struck"},
		{nil, ends + "down, sever 2, send 2 reset, down, failover at 4s, struck"},
	} {
		n := newTestNetwork(t, "failover-lose 3s at=1s")
		n.a2.Server = 1
		n.Serve(Ensemble{Servers: 3, Leader: test.leader})
		n.want("failover", n.strikeDue(), test.want)
	}
}

func TestFaultsOfAClientLeaveOthersAlone(t *testing.T) {
	n := newTestNetwork(t, "cut client=b at=1s", "refuse 1s client=b request=1")
	n.want("a's request", ask(n.a1, second), "apply 1")
	n.want("b's time", n.strike(n.Armed()[0], n.b.Client.ID, second),
		"sever 3, send 3 reset, struck")
	n.want("once more", n.strike(n.Armed()[0], n.b.Client.ID, second), "")
}
