package fakezk

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// testRecord is a TB that notes what a test would say.
type testRecord struct {
	mu       sync.Mutex // of said: the client logs in its own goroutines
	said     []string
	failed   bool
	cleanups []func()
}

func (r *testRecord) Helper()          {}
func (r *testRecord) Failed() bool     { return r.failed }
func (r *testRecord) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *testRecord) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *testRecord) Errorf(format string, args ...any) {
	r.failed = true
	r.Logf(format, args...)
}

func (r *testRecord) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// play runs a test to its end, in the way of package testing, and returns what it said.
func (r *testRecord) play(test func(TB)) string {
	func() {
		defer func() {
			if e := recover(); e != nil && e != r {
				panic(e)
			}
		}()
		test(r)
	}()
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return strings.Join(r.said, "\n")
}

func TestAFaultThatNeverActsFailsTheTest(t *testing.T) {
	for _, test := range []struct {
		name, creates, want string
		clear               bool
	}{
		{"it acts", "/a", "", false},
		{"it does not", "/b", "drop-reply op=create path=/a request=1: not fired, 0 requests",
			false},
		{"it need not", "/b", "", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &testRecord{}
			said := r.play(func(t TB) {
				server := Start(t)
				conn := server.Connect(t)
				f := fault.Fault{Kind: fault.DropReply, Op: "create", Path: "/a", Request: 1}
				if err := server.Inject(f); err != nil {
					t.Fatalf("%v", err)
				}
				_, _ = conn.Create(test.creates, nil, 0, zk.WorldACL(zk.PermAll))
				if test.clear {
					server.ClearFaults()
				}
			})
			check.Equal(t, r.failed, test.want != "", test.name)
			check.Contains(t, said, test.want, test.name)
		})
	}
}

func TestTheTraceOfAFailedTestIsPrinted(t *testing.T) {
	play := func(fails bool) string {
		var said string
		synctest.Test(t, func(t *testing.T) {
			said = (&testRecord{}).play(func(t TB) {
				server := Start(t, Options{Trace: true})
				conn, events := server.ConnectAs(t, Client{Name: "worker"})
				if err := server.Inject(fault.Fault{
					Kind: fault.DropReply, Client: "worker", Op: "create", Request: 1,
				}); err != nil {
					t.Fatalf("%v", err)
				}
				_, _, _, _ = conn.ExistsW("/a")
				_, _ = conn.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
				for ev := range events {
					if ev.State == zk.StateHasSession {
						break
					}
				}
				synctest.Wait() // until setWatches is answered
				if fails {
					t.Errorf("wrong")
				}
			})
		})
		return said
	}
	said := play(true)
	for _, line := range []string{
		"worker   session begins id=0x", "worker   -> exists+watch /a: NoNode, zxid 1",
		"fault line=drop-reply client=worker op=create request=1",
		"worker   -> create ephemeral /a: ok /a, zxid 2", "worker   session without connection",
		"worker   session connected again", "worker   <- event NodeCreated /a",
	} {
		check.Contains(t, strings.ReplaceAll(said, `"`, ""), line)
	}
	if said := play(false); strings.Contains(said, "exists+watch") {
		t.Errorf("a test that passes prints the trace:\n%s", said)
	}
}

// TestTheTraceIsBounded: the last lines are kept, in order.
func TestTheTraceIsBounded(t *testing.T) {
	l := newHistory(true, time.Now())
	for i := range maxHistory + 5 {
		l.add(view.Record{Text: fmt.Sprint("line ", i+1)})
	}
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	check.Equal(t, len(lines), maxHistory)
	check.Contains(t, lines[0], "line 6")
	check.Contains(t, lines[maxHistory-1], "line 1005")
}

func TestNamesOfClients(t *testing.T) {
	inBubble(t, func(t *testing.T, server *Server) {
		names := func() string {
			var names []string
			for _, s := range server.Sessions() {
				names = append(names, s.Name)
			}
			slices.Sort(names)
			return strings.Join(names, " ")
		}
		inject := func(client, want string) {
			t.Helper()
			err := server.Inject(fault.Fault{Kind: fault.Expire, Client: client, Request: 1})
			if want == "" {
				check.OK(t, err)
			} else if check.Contains(t, fmt.Sprint(err), want); err == nil {
				t.Errorf("client=%s: no error", client)
			}
		}
		server.Connect(t)
		worker, _ := server.ConnectAs(t, Client{Name: "worker"})
		server.ConnectAs(t, Client{Name: "worker"})
		server.Connect(t)
		check.Equal(t, names(), "S1 S4 worker worker.2")
		inject("S2", "has a name of DialerAs")
		inject("boss", "or a name given to DialerAs (worker)")
		inject("worker.02", "expected a session")
		inject("worker.3", "")
		inject("worker", "")
		if _, _, err := worker.Exists("/"); err == nil {
			t.Error("the session of worker lives")
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		check.Equal(t, names(), "S1 S4 worker.2 worker.3")
		inject("worker", "has ended")
		server.ClearFaults()

		for _, name := range []string{"S1", "0x1", "a b", "a.2", "a=b"} {
			if _, err := server.DialerAs(name)("tcp", Address, 0); err == nil {
				t.Errorf("DialerAs(%q): no error", name)
			}
		}
	})
}

func TestConnectTellsOfTheBubble(t *testing.T) {
	outside := Start(t)
	connect := func(s *Server) string {
		return (&testRecord{}).play(func(t TB) { s.Connect(t) })
	}
	var inside *Server
	synctest.Test(t, func(t *testing.T) {
		check.Contains(t, connect(outside), "made outside of this testing/synctest bubble")
		_, err := outside.Dialer()("tcp", Address, 0)
		check.Contains(t, fmt.Sprint(err), "made outside of this testing/synctest bubble")
		check.Contains(t, (&testRecord{}).play(func(t TB) { outside.Listen(t) }), "Listen in a")
		inside = Start(t)
		inside.Connect(t)
	})
	check.Contains(t, connect(inside), "made inside a testing/synctest bubble")
	synctest.Test(t, func(t *testing.T) {
		check.Contains(t, connect(inside), "made in another testing/synctest bubble")
	})
}

func TestListen(t *testing.T) {
	server := Start(t)
	conn, _, err := zk.Connect([]string{server.Listen(t)}, 10*time.Second,
		zk.WithHostProvider(HostProvider()), zk.WithLogger(&testLog{t: t, ended: true}))
	check.OK(t, err)
	defer conn.Close()
	_, err = conn.Create("/a", []byte("1"), 0, zk.WorldACL(zk.PermAll))
	check.OK(t, err)
	server.CheckGet(t, "/a", "1")
}

// TestReconnectsTakeNoTime: a lost connection costs no second, a server that is down costs one for
// each round of dials.
func TestReconnectsTakeNoTime(t *testing.T) {
	inBubble(t, func(t *testing.T, server *Server) {
		conn := server.Connect(t)
		began := time.Now()
		for range 100 {
			server.DropConnections()
			synctest.Wait()
			if _, _, err := conn.Exists("/"); err != nil {
				t.Fatal(err)
			}
		}
		check.Equal(t, time.Since(began), 0)
		server.Stop()
		synctest.Wait()
		time.Sleep(2500 * time.Millisecond)
		server.Restart()
		if _, _, err := conn.Exists("/"); err != nil && !errors.Is(err, zk.ErrNoServer) {
			t.Fatal(err)
		}
		check.Equal(t, time.Since(began), 3*time.Second)
	})
}

// TestALineThatRepeatsIsLoggedOnce: a server that is down for long would fill the log.
func TestALineThatRepeatsIsLoggedOnce(t *testing.T) {
	log := (&testRecord{}).play(func(t TB) {
		l := testLog{t: t, prefix: "a"}
		for _, text := range []string{"down", "down", "up", "down"} {
			l.Printf("%s", text)
		}
	})
	check.Equal(t, strings.Count(log, "down"), 2, "lines in "+log)
}

func TestHostProviderGoesRound(t *testing.T) {
	h := HostProvider()
	check.OK(t, h.Init([]string{"a:1", "b:1"}))
	var got strings.Builder
	next := func() {
		server, wait := h.Next()
		fmt.Fprintf(&got, "%s %v, ", server, wait)
	}
	for range 4 {
		next()
	}
	h.Connected()
	next()
	check.Equal(t, got.String(), "a:1 false, b:1 false, a:1 true, b:1 false, a:1 false, ")
	if err := HostProvider().Init(nil); err == nil {
		t.Error("no error without an address")
	}
}

func TestChecks(t *testing.T) {
	server := Start(t)
	check.OK(t, server.Put("/a/b", []byte("1")))
	for _, test := range []struct {
		check func(TB)
		want  string
	}{
		{func(t TB) { server.CheckGet(t, "/a/b", "1") }, ""},
		{func(t TB) { server.CheckGet(t, "/a", "") }, ""},
		{func(t TB) { server.CheckGet(t, "/a/b", "2") }, `has data "1"; expected "2"`},
		{func(t TB) { server.CheckGet(t, "/c", "") },
			"no node /c; the server has 0 sessions and 2 nodes: /a, /a/b"},
		{func(t TB) { server.CheckGone(t, "/c") }, ""},
		{func(t TB) { server.CheckGone(t, "/a/b") }, `node /a/b persistent version 0 "1"`},
	} {
		r := &testRecord{}
		check.Contains(t, r.play(test.check), test.want)
		check.Equal(t, r.failed, test.want != "", test.want)
	}
	if !server.Exists("/a") || server.Exists("/c") {
		t.Error("Exists is wrong")
	}
}

// TestConnectionsThatAreLeftOpenAreNamed in a bubble, where they end the test with a deadlock.
func TestConnectionsThatAreLeftOpenAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, closes := range []bool{false, true} {
			var left *zk.Conn
			said := new(testRecord).play(func(t TB) {
				s := Start(t)
				s.Connect(t)
				conn, _, err := zk.Connect([]string{Address}, 10*time.Second,
					zk.WithDialer(s.DialerAs("left")), zk.WithLogInfo(false),
					zk.WithLogger(log.New(io.Discard, "", 0)))
				if err != nil {
					t.Fatalf("%v", err)
				}
				if left = conn; closes {
					t.Cleanup(conn.Close)
				}
				if _, _, err := conn.Get("/"); err != nil {
					t.Fatalf("%v", err)
				}
			})
			left.Close()
			if told := strings.Contains(said, "there is a connection of left."); told == closes {
				t.Errorf("closed: %v; the test says %q", closes, said)
			}
		}
	})
}

// TestALongWaitIsNamed: nothing ends a wait without a deadline in a bubble, so its place is told
// before go test ends the test. A sleep and a wait that is over are not.
func TestALongWaitIsNamed(t *testing.T) {
	var told strings.Builder
	warnings = &told
	defer func() { warnings = os.Stderr }()
	for name, wait := range map[string]struct {
		in   func(gone <-chan zk.Event)
		says string
	}{
		"for an event": {func(gone <-chan zk.Event) { <-gone }, "virtual time at start_test.go:"},
		"in a call": {func(<-chan zk.Event) {
			var over sync.WaitGroup
			over.Add(1)
			time.AfterFunc(30*time.Hour, over.Done)
			over.Wait()
		}, ", in sync.(*WaitGroup).Wait: without a deadline"},
		"asleep": {func(<-chan zk.Event) { time.Sleep(30 * time.Hour) }, ""},
		"twice": {func(gone <-chan zk.Event) {
			time.Sleep(20 * time.Hour)
			<-gone
		}, ""},
	} {
		told.Reset()
		synctest.Test(t, func(t *testing.T) {
			conn := Start(t).Connect(t)
			_, _, gone, err := conn.ExistsW("/a")
			check.OK(t, err)
			time.AfterFunc(29*time.Hour, func() {
				_, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
				check.OK(t, err)
			})
			wait.in(gone)
		})
		check.Equal(t, told.String() != "", wait.says != "", "%s: %s", name, told.String())
		check.Contains(t, told.String(), wait.says)
	}
}
