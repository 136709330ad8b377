package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
)

// stage is the environment of a script, which writes lines for the test.
type stage struct {
	*Client
	ctx  context.Context
	play *play
}

// play is a World that was run, with the lines that its scripts wrote.
type play struct {
	*trace.Result
	mu    sync.Mutex
	lines []scriptLine
}

type scriptLine struct {
	client, what string
	at           time.Duration
}

func (s *stage) writeLine(format string, args ...any) {
	s.play.mu.Lock()
	defer s.play.mu.Unlock()
	s.play.lines = append(s.play.lines, scriptLine{s.Name(), fmt.Sprintf(format, args...), s.Now()})
}

// create asks again as long as there is no server.
func (s *stage) create(path string, flags int32) {
	_, err := s.Conn().Create(path, nil, flags, worldACL)
	for err == zk.ErrNoServer {
		_, err = s.Conn().Create(path, nil, flags, worldACL)
	}
	s.writeLine("create %s: %v", path, err)
}

// perform runs clients a, b, ... under the plan. The run itself must go well.
func perform(t *testing.T, plan string, scripts ...func(*stage)) *play {
	t.Helper()
	return performIn(t, World{Seed: 7, Limit: 10 * time.Minute}, plan, scripts...)
}

func performIn(t *testing.T, w World, plan string, scripts ...func(*stage)) *play {
	t.Helper()
	p := &play{}
	for _, line := range strings.Split(plan, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f, err := fault.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		w.Plan = append(w.Plan, f)
	}
	for i, script := range scripts {
		w.Clients = append(w.Clients,
			Actor{Name: string(rune('a' + i)), Run: func(ctx context.Context, c *Client) {
				script(&stage{Client: c, ctx: ctx, play: p})
			}})
	}
	var err error
	if p.Result, err = w.Run(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("trace:\n%s", p.Trace)
		}
	})
	if p.Leaked+p.Frozen != "" || len(p.Panics)+len(p.Busy)+len(p.Missed) > 0 {
		t.Fatalf("leaked %q frozen %q panics %v busy %v missed %v", p.Leaked, p.Frozen,
			p.Panics, p.Busy, p.Missed)
	}
	return p
}

// wantLines checks the lines of a client, in order, at any time.
func (p *play) wantLines(t *testing.T, client string, want ...string) {
	t.Helper()
	var got []string
	for _, line := range p.lines {
		if line.client == client {
			got = append(got, line.what)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s wrote %q, want %q", client, got, want)
	}
}

// when is the time of the first line with these words.
func (p *play) when(t *testing.T, words string) time.Duration {
	t.Helper()
	for _, line := range p.lines {
		if strings.Contains(line.what, words) {
			return line.at
		}
	}
	t.Fatalf("no line with %q: %+v", words, p.lines)
	return 0
}

// change is the time of the first change of a kind at a path.
func (p *play) change(t *testing.T, kind trace.ChangeKind, path string) time.Duration {
	t.Helper()
	for _, c := range p.Changes {
		if c.Kind == kind && c.Path == path {
			return c.Time
		}
	}
	t.Fatalf("no %s %s in %+v", kind, path, p.Changes)
	return 0
}

func (p *play) changes(kind trace.ChangeKind, path string) (n int) {
	for _, c := range p.Changes {
		if c.Kind == kind && c.Path == path {
			n++
		}
	}
	return n
}

func (p *play) notices(client string) (kinds []trace.NoticeKind) {
	for _, n := range p.Notices {
		if n.Client == client {
			kinds = append(kinds, n.Kind)
		}
	}
	return kinds
}

// notice is the time of a client's n-th notice of a kind, from 1.
func (p *play) notice(t *testing.T, client string, kind trace.NoticeKind, n int) time.Duration {
	t.Helper()
	for _, notice := range p.Notices {
		if notice.Client == client && notice.Kind == kind {
			if n--; n == 0 {
				return notice.Time
			}
		}
	}
	t.Fatalf("no such %s of %s: %+v", kind, client, p.Notices)
	return 0
}

func between(t *testing.T, what string, at, low, high time.Duration) {
	t.Helper()
	if at < low || at > high {
		t.Errorf("%s at %s, want it between %s and %s", what, at, low, high)
	}
}

// twice makes an ephemeral, then asks for the same node two times: the answers
// tell whether the first request was applied.
func twice(s *stage) {
	s.create("/e", zk.FlagEphemeral)
	s.create("/x", 0)
	s.create("/x", 0)
}

const (
	created      = "create /x: <nil>"
	lostReply    = "create /x: zk: connection closed"
	already      = "create /x: zk: node already exists"
	createdE     = "create /e: <nil>"
	second       = time.Second
	soon         = 100 * time.Millisecond
	recvTimeout  = 2 * (10 * second) / 3
	reconnection = 2 * time.Second
)

var (
	reconnects  = []trace.NoticeKind{trace.Connected, trace.Disconnected, trace.Connected}
	staysOnline = []trace.NoticeKind{trace.Connected}
)

func wantNotices(t *testing.T, p *play, client string, want []trace.NoticeKind) {
	t.Helper()
	if got := p.notices(client); !slices.Equal(got, want) {
		t.Errorf("%s was told %v, want %v", client, got, want)
	}
}

func TestDropRequestIsNotApplied(t *testing.T) {
	p := perform(t, "drop-request request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, created)
	wantNotices(t, p, "a", reconnects)
	if last := p.Requests[len(p.Requests)-1]; last.Number != 3 || last.Conn != 2 ||
		last.Path != "/x" {
		t.Errorf("requests: %+v", p.Requests)
	}
}

func TestDropReplyIsApplied(t *testing.T) {
	p := perform(t, "drop-reply request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, already)
	wantNotices(t, p, "a", reconnects)
	if p.changes(trace.NodeCreated, "/x") != 1 || len(p.Requests) != 3 ||
		p.changes(trace.NodeDeleted, "/e") != 0 {
		t.Errorf("requests %+v, changes %+v", p.Requests, p.Changes)
	}
}

func TestCutOnARequestComesAfterItsReply(t *testing.T) {
	p := perform(t, "cut request=2", twice)
	if lines := p.lines; len(lines) != 3 || lines[1].what != created {
		t.Errorf("lines %+v", lines)
	}
	wantNotices(t, p, "a", reconnects)
}

func TestCutMidFrameIsAppliedAndTheReplyUseless(t *testing.T) {
	p := perform(t, "cut-mid-frame request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, already)
	wantNotices(t, p, "a", reconnects)
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

func TestStallHoldsTheRequestAndEverythingElse(t *testing.T) {
	p := perform(t, "stall 3s request=2", twice)
	p.wantLines(t, "a", createdE, created, already)
	wantNotices(t, p, "a", staysOnline)
	between(t, "the create", p.change(t, trace.NodeCreated, "/x"), 3*second, 3*second+soon)
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

func TestStallMidFrameAppliesAndDeliversTheRestLate(t *testing.T) {
	p := perform(t, "stall-mid-frame 3s request=2", twice)
	p.wantLines(t, "a", createdE, created, already)
	wantNotices(t, p, "a", staysOnline)
	between(t, "the create", p.change(t, trace.NodeCreated, "/x"), 0, soon)
	between(t, "its answer", p.when(t, created), 3*second, 3*second+soon)
}

func TestDelayHoldsTheRequest(t *testing.T) {
	p := perform(t, "delay 3s request=2", twice)
	p.wantLines(t, "a", createdE, created, already)
	wantNotices(t, p, "a", staysOnline)
	between(t, "the create", p.change(t, trace.NodeCreated, "/x"), 3*second, 3*second+soon)
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

func TestShortBlackholeKeepsTheSession(t *testing.T) {
	p := perform(t, "blackhole 1s request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, created)
	wantNotices(t, p, "a", reconnects)
	if p.changes(trace.NodeDeleted, "/e") != 0 {
		t.Errorf("changes %+v", p.Changes)
	}
}

func TestRefuseFailsDialsForAWhile(t *testing.T) {
	p := perform(t, "refuse 3s request=2", twice)
	p.wantLines(t, "a", createdE, lostReply, created)
	wantNotices(t, p, "a", reconnects)
	between(t, "the reset", p.notice(t, "a", trace.Disconnected, 1), 0, soon)
	between(t, "the reconnect", p.notice(t, "a", trace.Connected, 2), 3*second,
		3*second+reconnection)
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
	p := perform(t, "late-reap 3s request=2", func(s *stage) {
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
			if len(p.Events) != test.sent {
				t.Errorf("events: %+v", p.Events)
			}
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
