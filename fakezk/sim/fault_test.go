package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestFaultsOnTheSecondRequest of a client that makes an ephemeral, and then a node twice: the
// answers tell whether the first request for it was applied. The session lives on.
func TestFaultsOnTheSecondRequest(t *testing.T) {
	const atOnce, longest = time.Millisecond, recvTimeout // after which silence is a loss
	for _, test := range []struct {
		plan, first, then string
		applied, answered time.Duration // a create of /x that succeeds
		lost, back        time.Duration // the connection; back 0: it is not lost
	}{
		{"drop-request request=2", lostReply, created, 0, 0, 0, atOnce},
		{"drop-reply request=2", lostReply, already, 0, 0, 0, atOnce},
		{"cut request=2", created, lostReply, 0, 0, 0, atOnce},
		{"cut-mid-frame request=2", lostReply, already, 0, 0, 0, atOnce},
		{"stall 3s request=2", created, already, 3 * second, 3 * second, 0, 0},
		{"stall-mid-frame 3s request=2", created, already, 0, 3 * second, 0, 0},
		{"delay 3s request=2", created, already, 3 * second, 3 * second, 0, 0},
		{"refuse 3s request=2", lostReply, created, 3 * second, 3 * second, 0, 3 * second},
		{"blackhole 1s request=2", lostReply, created, longest, longest, longest, longest},
	} {
		t.Run(test.plan, func(t *testing.T) {
			p := perform(t, test.plan, twice)
			p.wantLines(t, "a", createdE, test.first, test.then)
			between(t, "the create", p.change(t, trace.NodeCreated, "/x"), test.applied,
				test.applied+soon)
			if test.first == created || test.then == created {
				between(t, "its answer", p.when(t, created), test.answered, test.answered+soon)
			}
			if p.changes(trace.NodeCreated, "/x") != 1 || p.changes(trace.NodeDeleted, "/e") != 0 {
				t.Errorf("changes %+v", p.Changes)
			}
			last := p.Requests[len(p.Requests)-1]
			if test.then != lostReply && (last.Number != 3 || last.Path != "/x") {
				t.Errorf("requests %+v", p.Requests)
			}
			if test.back == 0 {
				wantNotices(t, p, "a", staysOnline)
				return
			}
			wantNotices(t, p, "a", reconnects)
			between(t, "the loss", p.notice(t, "a", trace.Disconnected, 1), test.lost,
				test.lost+soon)
			between(t, "the next connection", p.notice(t, "a", trace.Connected, 2),
				test.back, test.back+soon)
		})
	}
}

// TestAnErrorIsTheReply: the request is not applied, the connection stays, and the replies to
// requests under way at the same time keep their order.
func TestAnErrorIsTheReply(t *testing.T) {
	p := perform(t, "error NoAuth op=create request=2\nerror OperationTimeout op=getData request=1",
		func(s *stage) {
			twice(s)
			_, _, err := s.Conn().Get("/x")
			s.writeLine("get: %v", err)
		})
	p.wantLines(t, "a", createdE, "create /x: "+zk.ErrNoAuth.Error(), created,
		"get: unknown error: -7")
	wantNotices(t, p, "a", staysOnline)
	check.Equal(t, p.changes(trace.NodeCreated, "/x"), 1, "creations of /x")
	check.Equal(t, len(p.Missed), 0, "faults that missed")
	text := p.Trace.String()
	check.Contains(t, text, "error NoAuth op=create request=2 hits a's #2 create /x")
	check.Contains(t, text, "-> #2 create /x: NoAuth, zxid 2")
	check.Contains(t, text, "-> #3 create /x: ok /x, zxid 3")
}

// TestAnErrorLeavesNoWatch: the server does not know the watch of a request that it has refused.
func TestAnErrorLeavesNoWatch(t *testing.T) {
	p := perform(t, "error NoNode op=exists request=1", func(s *stage) {
		s.create("/x", 0)
		_, _, _, err := s.Conn().ExistsW("/x")
		check.OK(t, err)
	})
	check.Equal(t, len(p.Watches), 0, "watches")
}

func TestCutAtATimeHitsOnlyItsClient(t *testing.T) {
	idle := func(s *stage) { s.create("/"+s.Name(), 0); _ = s.Sleep(s.ctx, 5*second) }
	p := perform(t, "cut client=a at=2s", idle, idle)
	wantNotices(t, p, "a", reconnects)
	wantNotices(t, p, "b", staysOnline)
	between(t, "the cut", p.notice(t, "a", trace.Disconnected, 1), 2*second, 2*second+soon)
	p = perform(t, "cut at=2s", idle, idle)
	wantNotices(t, p, "a", reconnects)
	wantNotices(t, p, "b", reconnects)
}

func TestStallAtATime(t *testing.T) {
	p := perform(t, "stall 3s client=a at=1s", func(s *stage) {
		s.create("/e", 0)
		_ = s.Sleep(s.ctx, 1500*time.Millisecond)
		s.create("/x", 0)
	})
	wantNotices(t, p, "a", staysOnline)
	between(t, "the create", p.change(t, trace.NodeCreated, "/x"), 4*second, 4*second+soon)
}

// TestTheWorldSettlesAfterAStall: a World is not at rest while a message is held, here the
// handshake of a client.
func TestTheWorldSettlesAfterAStall(t *testing.T) {
	p := perform(t, "cut client=a at=1s\nstall 40s client=a at=1.007s",
		func(s *stage) { s.create("/e", 0); _ = s.Sleep(s.ctx, 2*second) })
	between(t, "the new session", p.notice(t, "a", trace.Connected, 2), 41*second, 41*second+soon)
	between(t, "the end", p.Elapsed, 61*second, 61*second+soon)
}

// A notification that is under way passes a request that is held back.
func TestDelayDoesNotHoldTheOtherDirection(t *testing.T) {
	p := perform(t, "delay 3s client=a op=create request=1", func(s *stage) {
		_, _, ch, err := s.Conn().ExistsW("/other")
		s.writeLine("watch: %v", err)
		done := make(chan struct{})
		go func() { defer close(done); s.create("/x", 0) }()
		<-ch
		s.writeLine("event")
		<-done
	}, func(s *stage) { _ = s.Sleep(s.ctx, second); s.create("/other", 0) })
	between(t, "the event", p.when(t, "event"), second, second+soon)
	between(t, "the create", p.when(t, created), 3*second, 3*second+soon)
}

func TestBlackholeIsSilentAndDialsHang(t *testing.T) {
	p := perform(t, "blackhole 12s request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, created)
	if p.change(t, trace.NodeCreated, "/x") < p.change(t, trace.NodeDeleted, "/e") {
		t.Error("the first create was applied")
	}
	between(t, "the client's notice", p.notice(t, "a", trace.Disconnected, 1), recvTimeout,
		recvTimeout+soon)
	between(t, "the next contact", p.notice(t, "a", trace.SessionExpired, 1), 12*second, 14*second)
}

func TestExpireEndsTheSessionBeforeTheRequest(t *testing.T) {
	p := perform(t, "expire request=2", twice)
	lines := p.lines
	if len(lines) != 3 || lines[1].what != lostReply {
		t.Errorf("lines %+v", lines)
	}
	if got := p.notices("a"); !slices.Contains(got, trace.SessionExpired) ||
		got[len(got)-1] != trace.Connected {
		t.Errorf("a was told %v", got)
	}
	if p.changes(trace.NodeDeleted, "/e") != 1 || p.changes(trace.SessionEnded, "") != 1 ||
		p.changes(trace.SessionStarted, "") != 2 {
		t.Errorf("changes %+v", p.Changes)
	}
	between(t, "the end of the ephemeral", p.change(t, trace.NodeDeleted, "/e"), 0, soon)
}

func TestExpireAtATime(t *testing.T) {
	p := perform(t, "expire client=a at=2s",
		func(s *stage) { s.create("/e", zk.FlagEphemeral); _ = s.Sleep(s.ctx, 5*second) })
	between(t, "the end of the ephemeral", p.change(t, trace.NodeDeleted, "/e"), 2*second,
		2*second+soon)
	between(t, "the client's notice", p.notice(t, "a", trace.SessionExpired, 1), 2*second,
		2*second+soon)
}

func TestLateReapLeavesTheEphemeralForAWhile(t *testing.T) {
	p := perform(t, "late-reap-unlike-3.8 3s request=2", func(s *stage) {
		twice(s)
		_ = s.Sleep(s.ctx, 10*second)
	})
	between(t, "the client's notice", p.notice(t, "a", trace.SessionExpired, 1), 0, soon)
	between(t, "the end of the ephemeral", p.change(t, trace.NodeDeleted, "/e"),
		3*second-time.Millisecond, 3*second+soon)
}

func TestRestartKeepsDataAndSessionsAndHitsEverybody(t *testing.T) {
	p := perform(t, "restart 3s client=a request=2", twice, func(s *stage) {
		s.create("/b", zk.FlagEphemeral)
		_ = s.Sleep(s.ctx, 10*second)
	})
	p.wantLines(t, "a", createdE, lostReply, created)
	for _, client := range []string{"a", "b"} {
		wantNotices(t, p, client, reconnects)
		between(t, "the reset", p.notice(t, client, trace.Disconnected, 1), 0, soon)
		between(t, "the reconnect", p.notice(t, client, trace.Connected, 2), 3*second,
			3*second+reconnection)
	}
	if p.changes(trace.SessionEnded, "") != 0 ||
		p.changes(trace.NodeDeleted, "/e")+p.changes(trace.NodeDeleted, "/b") != 0 {
		t.Errorf("changes %+v", p.Changes)
	}
}

// watcher waits for /x while another client makes it.
func watcher(s *stage) {
	_, _, ch, err := s.Conn().ExistsW("/x")
	s.writeLine("watch: %v", err)
	ev := <-ch
	s.writeLine("event %s %s", ev.Type, ev.Path)
	s.create("/after", 0)
}

func createPath(s *stage) { _ = s.Sleep(s.ctx, second); s.create("/x", 0) }

func TestFaultsOnEvents(t *testing.T) {
	tests := []struct {
		plan     string
		notices  []trace.NoticeKind
		sent     int // how often the server sent the event
		from, to time.Duration
	}{
		{"cut client=a event=1", reconnects, 2, second, second + soon},
		{"cut-mid-frame client=a event=1", reconnects, 2, second, second + soon},
		{"stall 3s client=a event=1", staysOnline, 1, 4 * second, 4*second + soon},
		{"stall-mid-frame 3s client=a event=1", staysOnline, 1, 4 * second, 4*second + soon},
		{"delay 3s client=a event=1", staysOnline, 1, 4 * second, 4*second + soon},
		{"delay 3s event=1 path=/x", staysOnline, 1, 4 * second, 4*second + soon},
	}
	for _, test := range tests {
		t.Run(test.plan, func(t *testing.T) {
			p := perform(t, test.plan, watcher, createPath)
			p.wantLines(t, "a", "watch: <nil>", "event EventNodeCreated /x", "create /after: <nil>")
			wantNotices(t, p, "a", test.notices)
			between(t, "the event", p.when(t, "event"), test.from, test.to)
			check.Equal(t, len(p.Events), test.sent, "events: %+v", p.Events)
			for i, ev := range p.Events {
				if ev.Client != "a" || ev.Number != i+1 || ev.Path != "/x" ||
					ev.Type != "NodeCreated" {
					t.Errorf("event %+v", ev)
				}
			}
		})
	}
}

func TestSelectorsNarrowWhatIsCounted(t *testing.T) {
	tests := []struct {
		plan string
		lost string
	}{
		{"drop-request op=create request=2", "create /2"},
		{"drop-request op=getData request=2", "get /2"},
		{"drop-request path=/3 request=1", "create /3"},
		{"drop-request path=/3 request=2", "get /3"},
		{"drop-request path=/* op=create request=3", "create /3"},
		{"drop-request conn=1 request=1", "create /1"},
		{"drop-request client=a request=3", "create /2"},
	}
	for _, test := range tests {
		p := perform(t, test.plan, func(s *stage) {
			for i := 1; i <= 3; i++ {
				path := fmt.Sprint("/", i)
				if _, err := s.Conn().Create(path, nil, 0, worldACL); err != nil {
					s.writeLine("create %s", path)
				}
				if _, _, err := s.Conn().Get(path); err != nil && err != zk.ErrNoNode {
					s.writeLine("get %s", path)
				}
			}
		})
		p.wantLines(t, "a", test.lost)
	}
}
