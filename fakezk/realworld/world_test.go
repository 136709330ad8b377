package realworld_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// realPace makes sessions of four seconds last one of the clock.
const realPace = 4

// startReal starts a server with the tick that such sessions need.
func startReal(t *testing.T) *realzk.Server {
	t.Helper()
	return realzk.Start(t, realzk.Options{TickTime: 2 * time.Second / realPace})
}

func realWorld(server realworld.Server, plan []fault.Fault,
	scripts ...func(context.Context, *realworld.Client)) realworld.World {
	w := realworld.World{
		Servers: []realworld.Server{server}, Plan: plan, Pace: realPace,
		SessionTimeout: 4 * time.Second, Limit: 12 * time.Second, Settle: time.Second,
	}
	for i, run := range scripts {
		w.Clients = append(w.Clients, realworld.Actor{Name: string(rune('a' + i)), Run: run})
	}
	return w
}

func runReal(t *testing.T, w realworld.World) *trace.Result {
	t.Helper()
	result, err := w.Run(t.Context())
	check.OK(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the real trace:\n%s", result.Trace)
		}
	})
	return result
}

// connector has the common method of clients of both kinds of worlds.
type connector interface {
	Conn() *zk.Conn
	Sleep(ctx context.Context, d time.Duration) error
}

// solo is the script of one client that changes things and hears of it, each step told in one line.
// After a loss it waits for the connection: without one, a request may fail with ErrNoServer.
func solo(ctx context.Context, c connector, tell func(format string, args ...any)) {
	conn := c.Conn()
	told := func(text string, err error) {
		tell("%s: %v", text, err)
		for errors.Is(err, zk.ErrConnectionClosed) && conn.State() != zk.StateHasSession {
			if c.Sleep(ctx, 50*time.Millisecond) != nil {
				return
			}
		}
	}
	_, err := conn.Create("/e", []byte("1"), zk.FlagEphemeral, openACL)
	told("create /e", err)
	_, err = conn.Create("/p", []byte("1"), 0, openACL)
	told("create /p", err)
	_, _, events, err := conn.GetW("/p")
	told("watch /p", err)
	_, err = conn.Set("/p", []byte("2"), -1)
	told("set /p", err)
	if events != nil {
		ev := <-events
		tell("hears: %v, %v", ev.Type, ev.Err)
	}
	told("multi", errOf(conn.Multi(&zk.DeleteRequest{Path: "/p", Version: -1},
		&zk.CreateRequest{Path: "/q", Acl: openACL})))
	exists, _, err := conn.Exists("/e")
	told(fmt.Sprintf("exists /e: %t", exists), err)
}

func errOf[T any](_ T, err error) error { return err }

var openACL = zk.WorldACL(zk.PermAll)

// report is the comparable part of a run: the lines of the scripts, the clients' notices, and the
// server's changes.
func report(told []string, r *trace.Result) string {
	lines := append([]string{}, told...)
	for _, n := range r.Notices {
		lines = append(lines, fmt.Sprintf("notice %s", n.Kind))
	}
	for _, c := range r.Changes {
		lines = append(lines, fmt.Sprintf("%s %s %q by itself: %t, notifies %d", c.Kind,
			c.Path, c.Data, c.Session == 0, c.Notified))
	}
	for _, w := range r.Watches {
		lines = append(lines, fmt.Sprintf("watch %s", w.Path))
	}
	for _, n := range r.Nodes {
		lines = append(lines, fmt.Sprintf("node %s %q", n.Path, n.Data))
	}
	lines = append(lines, fmt.Sprintf("%d sessions, busy: %v, missed: %v", len(r.Sessions), r.Busy,
		r.Missed))
	return strings.Join(lines, "\n")
}

// notes collects lines.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// soloFaults is each kind that a proxy can cause, with servers of its own or as a guest, at a
// create, a set and a multi and at the notification of a solo. Errors are by hand.
func soloFaults(guest bool) []string {
	list := []string{""}
	for _, info := range fault.KindsFor(1) {
		kind := string(info.Kind)
		if info.Lasts {
			kind += " 1s"
		}
		if info.Kind == fault.Cut || realworld.Refuse(info.Kind, guest) != nil {
			continue // in a World the reset takes a while, and the client's next request is lost
		}
		for _, op := range []string{"create path=/p", "setData", "multi"} {
			list = append(list, fmt.Sprintf("%s client=a op=%s request=1", kind, op))
		}
		if info.OnEvent {
			list = append(list, kind+" client=a event=1")
		}
	}
	return append(list, "error NoAuth client=a op=create request=2",
		"error NoNode client=a op=getData request=1", "error OperationTimeout client=a op=multi request=1")
}

// maxTries is for machines that are so busy that connections time out.
const maxTries = 3

// surprises reports whether the real client lost its connection or session more
// often than the simulated one.
func surprises(virtual, genuine string) bool {
	for _, notice := range []trace.NoticeKind{trace.Disconnected, trace.SessionExpired} {
		line := fmt.Sprintf("notice %s\n", notice)
		if strings.Count(genuine, line) > strings.Count(virtual, line) {
			return true
		}
	}
	return false
}

// sameInBothWorlds plays a solo under a fault in both kinds of worlds, and compares the reports.
func sameInBothWorlds(t *testing.T, server realworld.Server, line string) {
	t.Helper()
	var virtual, genuine string
	for range maxTries {
		if virtual, genuine = inBothWorlds(t, server, line); virtual == genuine {
			return
		}
	}
	if surprises(virtual, genuine) {
		t.Skip("connections time out or sessions expire by themselves: the machine is too busy")
	}
	t.Errorf("%d times in a row\n-World +RealWorld\n%s", maxTries, cmp.Diff(virtual, genuine))
}

// inBothWorlds returns the reports of a solo under a fault in both kinds of worlds.
func inBothWorlds(t *testing.T, server realworld.Server, line string) (virtual, genuine string) {
	t.Helper()
	var plan []fault.Fault
	if line != "" {
		f, err := fault.Parse(line)
		check.OK(t, err)
		plan = append(plan, f)
	}
	var told, toldReal notes
	w := sim.World{
		Seed: 1, Plan: plan, Server: sim.Settings{TickTime: 2 * time.Second},
		SessionTimeout: 4 * time.Second, Limit: 12 * time.Second, Settle: time.Second,
		Clients: []sim.Actor{{Name: "a", Run: func(ctx context.Context, c *sim.Client) {
			solo(ctx, c, told.add)
		}}},
	}
	simulated, err := w.Run()
	check.OK(t, err)
	result := runReal(t, realWorld(server, plan, func(ctx context.Context, c *realworld.Client) {
		solo(ctx, c, toldReal.add)
	}))
	return report(told.lines, simulated), report(toldReal.lines, result)
}

// TestFaultsMeanTheSameToARealServer: whatever a proxy can do to a client of a real
// server ends as it does in a World.
func TestFaultsMeanTheSameToARealServer(t *testing.T) {
	t.Parallel()
	const atATime = 4
	servers := make(chan *realzk.Server, atATime)
	for range atATime {
		servers <- startReal(t)
	}
	var all sync.WaitGroup
	for _, line := range soloFaults(false) {
		all.Go(func() {
			server := <-servers
			defer func() { servers <- server }()
			t.Run(line, func(t *testing.T) { sameInBothWorlds(t, server, line) })
		})
	}
	all.Wait()
}

// TestRealWorldTellsWhoHeardOfAChange: the notified clients and the watches left armed.
func TestRealWorldTellsWhoHeardOfAChange(t *testing.T) {
	t.Parallel()
	server := startReal(t)
	armed := make(chan struct{})
	result := runReal(t, realWorld(server, nil,
		func(_ context.Context, c *realworld.Client) {
			<-armed
			if _, err := c.Conn().Create("/x", []byte("1"), 0, openACL); err != nil {
				t.Error(err)
			}
		},
		func(_ context.Context, c *realworld.Client) {
			_, _, created, err := c.Conn().ExistsW("/x")
			if err != nil {
				t.Error(err)
			}
			close(armed)
			check.Equal(t, (<-created).Type, zk.EventNodeCreated)
			if _, _, _, err := c.Conn().ChildrenW("/"); err != nil {
				t.Error(err)
			}
			if _, _, _, err := c.Conn().GetW("/x"); err != nil {
				t.Error(err)
			}
		}))
	for _, c := range result.Changes {
		check.Equal(t, c.Kind == trace.NodeCreated, c.Notified == 1,
			"%s %s notifies %d", c.Kind, c.Path, c.Notified)
	}
	if len(result.Watches) != 2 || result.Watches[0].Path != "/" || !result.Watches[0].Children ||
		result.Watches[1].Path != "/x" ||
		result.SessionClient[result.Watches[1].Session] != "b" {
		t.Errorf("watches at rest: %+v", result.Watches)
	}
	if len(result.Events) != 1 || result.Events[0].Client != "b" || len(result.Sessions) != 2 {
		t.Errorf("events: %+v, sessions: %+v", result.Events, result.Sessions)
	}
}

// TestRealWorldTellsWhoEndedASession: the server when it expired, or its client.
func TestRealWorldTellsWhoEndedASession(t *testing.T) {
	t.Parallel()
	cutOff, err := fault.Parse("blackhole 10s client=a op=exists request=1")
	check.OK(t, err)
	result := runReal(t, realWorld(startReal(t), []fault.Fault{cutOff},
		func(ctx context.Context, c *realworld.Client) {
			if _, err := c.Conn().Create("/a", nil, zk.FlagEphemeral, openACL); err != nil {
				t.Error(err)
			}
			if _, _, err := c.Conn().Exists("/a"); err == nil {
				t.Error("got an answer out of a black hole")
			}
			if err := c.Sleep(ctx, 8*time.Second); err != nil {
				t.Error(err)
			}
		},
		func(_ context.Context, c *realworld.Client) {
			if _, err := c.Conn().Create("/b", nil, zk.FlagEphemeral, openACL); err != nil {
				t.Error(err)
			}
			c.Conn().Close()
		}))
	asked := map[string]bool{}
	for _, c := range result.Changes {
		if c.Kind == trace.SessionEnded || c.Kind == trace.NodeDeleted {
			asked[string(c.Kind)+c.Path+" "+result.SessionClient[c.Owner]] = c.Session != 0
		}
	}
	want := map[string]bool{"session-ended a": false, "node-deleted/a a": false,
		"session-ended b": true, "node-deleted/b b": true}
	check.Diff(t, asked, want, "whether somebody asked for it")
}

// TestRealWorldTellsWhoIsBusy: a script that does not end, and one that panics.
func TestRealWorldTellsWhoIsBusy(t *testing.T) {
	t.Parallel()
	w := realWorld(startReal(t), nil,
		func(ctx context.Context, c *realworld.Client) { <-ctx.Done() },
		func(context.Context, *realworld.Client) { panic("ouch") })
	w.Limit = time.Second
	result := runReal(t, w)
	if !cmp.Equal(result.Busy, []string{"a"}) || len(result.Panics) != 1 ||
		!strings.Contains(result.Panics[0], "ouch") || result.Leaked != "" {
		t.Errorf("busy: %v, panics: %v, leaked: %s", result.Busy, result.Panics, result.Leaked)
	}
}

func TestRealWorldSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	run := func(context.Context, *realworld.Client) {}
	lateReap := []fault.Fault{{Kind: fault.LateReap, For: time.Second, Request: 1}}
	for _, test := range []struct {
		world realworld.World
		says  string
	}{
		{realworld.World{}, "no server is given"},
		{realworld.World{Servers: atNowhere, Pace: -1}, "pace: -1"},
		{realworld.World{Servers: atNowhere, Plan: lateReap}, "late-reap-unlike-3.8: no proxy can"},
		{
			realworld.World{Servers: atNowhere, Plan: []fault.Fault{{Kind: fault.Cut}}},
			"exactly one of",
		},
		{realworld.World{Servers: atNowhere, Clients: []realworld.Actor{{Name: "a b", Run: run}}},
			"client name"},
		{
			realworld.World{Servers: atNowhere, Clients: []realworld.Actor{{Name: "a"}}},
			"nothing to run",
		},
		{realworld.World{Servers: atNowhere}, "clean the server"},
	} {
		_, err := test.world.Run(t.Context())
		check.Contains(t, fmt.Sprint(err), test.says)
	}
}

var atNowhere = []realworld.Server{nowhere{}}

// nowhere is a server that is not there.
type nowhere struct{}

func (nowhere) Address() string                              { return "127.0.0.1:1" }
func (nowhere) DataDir() string                              { return "here" }
func (nowhere) Restart(context.Context, time.Duration) error { return nil }
func (nowhere) StandStill(bool) error                        { return nil }
func (nowhere) CutOff(bool) error                            { return nil }

// TestEventsAreThoseOfConn: the channel has the events of the first connection.
func TestEventsAreThoseOfConn(t *testing.T) {
	t.Parallel()
	runReal(t, realWorld(startReal(t), nil, func(ctx context.Context, c *realworld.Client) {
		for {
			select {
			case ev := <-c.Events():
				if ev.State == zk.StateHasSession {
					return
				}
			case <-ctx.Done():
				t.Error("the client was not told of its session")
				return
			}
		}
	}))
}
