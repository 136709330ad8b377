package fakezk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fakezk/view"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Start returns a server that is closed when the test ends. Inside a testing/synctest bubble, call
// it inside the bubble.
//
// A fault that never acts makes the test fail at its end: it tested nothing. Call ClearFaults
// before the end if the fault may stay unused. With Options.Trace the trace of a test that fails is
// printed.
func Start(t TB, opts ...Options) *Server {
	t.Helper()
	var o Options
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		t.Fatalf("fakezk.Start: at most one Options, got %d", len(opts))
	}
	s := New(o)
	if s.bubble != "" {
		t.Cleanup(warnOfWait(ownStack()))
	}
	t.Cleanup(func() {
		for _, f := range s.Faults() {
			if !f.Fired {
				t.Errorf("fakezk: %s; ClearFaults before the end of the test permits that", f)
			}
		}
		if s.bubble != "" {
			logOpen(t, s.Sessions())
		}
		if err := s.Close(); err != nil {
			t.Errorf("fakezk: close: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if text := s.recorder.history.String(); text != "" && t.Failed() {
			t.Logf("fakezk: what happened (line, time, session):\n%s", text)
		}
	})
	return s
}

// longWait is the virtual time after which a wait is taken for one that nobody ends: half of it at
// least it has been seen at its place.
const longWait = 24 * time.Hour

// warnings is where Start writes what is of no use at the end of a test.
var warnings io.Writer = os.Stderr

// warnOfWait names the call in which a test, whose stack has the given head, waits for longer than
// longWait: the pings of its clients let virtual time go on, so the wait lasts until go test ends
// the process.
func warnOfWait(head string) (stop func()) {
	goroutine, _, _ := strings.Cut(head, "[")
	look := func() (place string) {
		all := make([]byte, 4<<20)
		for stack := range trace.Stacks(string(all[:runtime.Stack(all, true)])) {
			if rest, own := strings.CutPrefix(stack, goroutine); own {
				return waitOf(rest)
			}
		}
		return ""
	}
	var first string
	timer := time.AfterFunc(longWait/2, func() { first = look() })
	second := time.AfterFunc(longWait, func() {
		if place := look(); place != "" && place == first {
			fmt.Fprintf(warnings, "fakezk: the test has waited for %v of virtual time %s: without "+
				"a deadline it waits until go test ends it\n", longWait/2, place)
		}
	})
	return func() { _, _ = timer.Stop(), second.Stop() }
}

// waitOf is the place of the code of the test that waits, by its stack: "at lock_test.go:24, in
// recipes.(*Lock).Lock". It is "" if the test is not waiting, or sleeps.
func waitOf(stack string) string {
	state, calls, _ := strings.Cut(stack, "\n")
	waits := slices.ContainsFunc([]string{"[chan ", "[select", "[sync."}, func(s string) bool {
		return strings.HasPrefix(state, s)
	})
	lines, callee := strings.Split(calls, "\n"), ""
	for i := 0; waits && i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.Fields(lines[i+1])[0]
		if at := strings.LastIndex(function, "("); at > 0 {
			function = path.Base(function[:at])
		}
		if file, _, _ := strings.Cut(place, ".go:"); strings.HasSuffix(file, "_test") {
			if callee == "" {
				return "at " + path.Base(place)
			}
			return "at " + path.Base(place) + ", in " + callee
		}
		callee = function
	}
	return ""
}

// logOpen names the sessions that still have a connection. A client that nobody closes goes on, and
// synctest says no more of it than "deadlock".
func logOpen(t TB, sessions []view.Session) {
	t.Helper()
	var open []string
	for _, session := range sessions {
		if session.Connected {
			open = append(open, session.Name)
		}
	}
	if len(open) > 0 {
		t.Logf("fakezk: at the end of the test there is a connection of %s. If its client is not "+
			"closed, synctest ends the test with \"deadlock: main bubble goroutine has exited\": "+
			"call Close, or connect by Server.Connect, which closes it", strings.Join(open, ", "))
	}
}

// Listen accepts TCP connections on a free port of 127.0.0.1 until the test ends, and returns the
// address. An ensemble has an address for each server, with commas between. TCP needs real time:
// inside a testing/synctest bubble Listen makes the test fail.
func (s *Server) Listen(t TB) (address string) {
	t.Helper()
	if bubbleNumber() != "" {
		t.Fatalf("fakezk: Listen in a testing/synctest bubble: time stands still while a bubble " +
			"waits for TCP; use Connect or Dialer")
	}
	var listeners []net.Listener
	var addresses []string
	for range s.opts.Servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			closeAll(listeners)
			t.Fatalf("fakezk: listen: %v", err)
		}
		listeners, addresses = append(listeners, l), append(addresses, l.Addr().String())
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listeners...) }()
	t.Cleanup(func() {
		closeAll(listeners) // the server may have closed them
		if err := <-served; err != nil && !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
	})
	return strings.Join(addresses, ",")
}

// DefaultSessionTimeout is the session timeout that Connect requests.
const DefaultSessionTimeout = 10 * time.Second

// Connect returns a genuine go-zookeeper connection to the server, in memory, that already has a
// session and is closed when the test ends. If there is no session within a minute, the test fails.
// The client's log goes to the log of the test.
func (s *Server) Connect(t TB) *zk.Conn {
	t.Helper()
	conn, _ := s.ConnectAs(t, Client{})
	return conn
}

// Client are the settings of a connection. The zero value has those of Connect.
type Client struct {
	// Name names the sessions, as DialerAs says.
	Name string
	// Server is the number, from 1, of the only server of an ensemble to connect to; 0 means any,
	// the first one first.
	Server int
	// Timeout is the session timeout to request; 0 means DefaultSessionTimeout.
	Timeout time.Duration
	// Options are more options of zk.Connect, such as zk.WithEventCallback(f).
	Options []func(*zk.Conn)
}

// ConnectAs is Connect with settings. The channel has the events after the one that announced the
// first session. As zk.Connect says, it keeps six of them for a reader.
func (s *Server) ConnectAs(t TB, c Client) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	addresses, err := addressesOf(s.Addresses(), c.Server)
	if err := errors.Join(err, checkName(c.Name), checkBubble(s.bubble)); err != nil {
		t.Fatalf("%v", err)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultSessionTimeout
	}
	log := &testLog{t: t, prefix: c.Name}
	t.Cleanup(log.end)
	conn, events, err := zk.Connect(addresses, c.Timeout, func(conn *zk.Conn) {
		zk.WithDialer(s.DialerAs(c.Name))(conn)
		zk.WithHostProvider(HostProvider())(conn)
		zk.WithLogger(log)(conn)
		for _, option := range c.Options {
			option(conn)
		}
	})
	if err != nil {
		t.Fatalf("fakezk: connect: %v", err)
	}
	t.Cleanup(conn.Close)
	timer := time.NewTimer(connectPatience)
	defer timer.Stop()
	for {
		select {
		case ev := <-events:
			if ev.State == zk.StateHasSession {
				letSettle(s.bubble != "")
				return conn, events
			}
		case <-timer.C:
			t.Fatalf("fakezk: no session after %s; is the server stopped?", connectPatience)
		}
	}
}

// letSettle lets a client that has its session come to rest. Until then its loop may collect the
// watches for setWatches, in a data race with the replies to the first requests. In a bubble the
// sleep ends when all other goroutines wait; outside it makes the race unlikely.
func letSettle(inBubble bool) {
	pause := time.Millisecond
	if inBubble {
		pause = time.Nanosecond
	}
	time.Sleep(pause)
}

// addressesOf is the address of a server by its number, or those of all servers if 0.
func addressesOf(all []string, number int) ([]string, error) {
	switch {
	case number == 0:
		return all, nil
	case number < 1 || number > len(all):
		return nil, fmt.Errorf("fakezk: there is no server %d; expected 1 to %d", number, len(all))
	default:
		return all[number-1 : number], nil
	}
}

// connectPatience is long, for machines that are slow or busy.
const connectPatience = time.Minute

// testLog is a zk.Logger that writes to the log of a test until the test ends. A line that comes
// again and again, as when a server is down for long, is written once.
type testLog struct {
	t      TB
	prefix string
	mu     sync.Mutex
	last   string
	ended  bool
}

func (l *testLog) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := strings.TrimSpace(l.prefix + " zk: " + fmt.Sprintf(format, args...))
	if !l.ended && line != l.last {
		l.t.Logf("%s", line)
	}
	l.last = line
}

func (l *testLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// checkBubble returns an error if the caller is in another testing/synctest bubble than a server.
func checkBubble(server string) error {
	switch caller := bubbleNumber(); {
	case caller == server:
		return nil
	case server == "":
		return errors.New("fakezk: the server was made outside of this testing/synctest bubble: " +
			"call Start or New inside")
	case caller == "":
		return errors.New("fakezk: the server was made inside a testing/synctest bubble: " +
			"connect inside, too")
	}
	return errors.New("fakezk: the server was made in another testing/synctest bubble")
}

// ownStack is the beginning of the stack of the caller's goroutine.
func ownStack() string {
	var buf [128]byte
	return string(buf[:runtime.Stack(buf[:], false)])
}

// bubbleNumber is the number of the caller's testing/synctest bubble, "" outside of any. The first
// line of a goroutine's stack has it: "goroutine 7 [running, synctest bubble 3]:".
func bubbleNumber() string {
	line, _, _ := strings.Cut(ownStack(), "\n")
	_, number, _ := strings.Cut(line, "synctest bubble ")
	number, _, _ = strings.Cut(number, "]")
	return number
}
