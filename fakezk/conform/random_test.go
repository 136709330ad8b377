package conform

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestRandomScriptsDependOnTheSeed compares scripts of equal and different seeds, and looks
// for every operation in them.
func TestRandomScriptsDependOnTheSeed(t *testing.T) {
	text := func(seed uint64) string {
		var b strings.Builder
		for n := range 50 {
			for _, s := range newGenerator(seed, n, true, true).script("", 100).steps {
				b.WriteString(s.text + "\n")
			}
		}
		return b.String()
	}
	one := text(1)
	if one != text(1) || one == text(2) {
		t.Error("equal seeds give different scripts, or different seeds equal ones")
	}
	for verb := range verbs {
		if verb != "ping" && verb != "closeSession" && !strings.Contains(one, " "+verb) {
			t.Errorf("no %s among 5000 random steps", verb)
		}
	}
}

// counts has the numbers of a server's answers and events.
type counts struct {
	mu                  sync.Mutex
	ok, refused, events int
}

// fault counts and changes nothing. It leaves out the first connection, the cleaner's.
func (n *counts) fault() fault {
	first := true
	return func(c *mutantConn) {
		if first {
			first = false
			return
		}
		c.change = func(op proto.OpCode, p []byte) [][]byte {
			n.mu.Lock()
			defer n.mu.Unlock()
			switch {
			case op == opEvent:
				n.events++
			case op == opConnect || op == proto.OpPing || op == proto.OpCloseSession:
			case isGranted(op, p):
				n.ok++
			default:
				n.refused++
			}
			return [][]byte{p}
		}
	}
}

func isGranted(op proto.OpCode, p []byte) bool {
	h, body, err := wire.DecodeReplyHeader(p)
	if err != nil || h.Err != proto.OK || op != proto.OpMulti {
		return err == nil && h.Err == proto.OK
	}
	reply, err := wire.DecodeReply(op, body)
	m, ok := reply.(proto.MultiReply)
	return err == nil && ok && (len(m.Results) == 0 || m.Results[0].Op != proto.OpError)
}

// TestRandomRequestsAreMostlyGranted counts the answers and events of random scripts: a
// comparison of refusals shows little.
func TestRandomRequestsAreMostlyGranted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var n counts
		report := wantEqual(t, fake(t, settings), mutant(t, settings, n.fault()),
			Options{Fresh: true, Families: []string{randomFamily}, Ops: 3000, Seed: 3})
		row := report.Families[0]
		t.Logf("%d operations, %d void; %d granted, %d refused, %d events", row.Operations,
			row.Void,
			n.ok, n.refused, n.events)
		if row.Void*100 >= row.Operations {
			t.Errorf("%d of %d steps had no connection, want less than 1%%", row.Void,
				row.Operations)
		}
		if n.ok < 2*n.refused {
			t.Errorf("%d granted and %d refused, want two thirds granted", n.ok, n.refused)
		}
		if n.events*3 < row.Operations {
			t.Errorf("%d events of %d operations, want a third", n.events, row.Operations)
		}
	})
}

// TestVoidStepsAreNotCounted plays a script with two void steps.
func TestVoidStepsAreNotCounted(t *testing.T) {
	seen := playOnce(t, fake(t, settings), fake(t, settings),
		"a create $/a\na drop\na exists $\na getData $\na attach")
	if seen.diff != nil || seen.reached != 5 || seen.compared != 3 {
		t.Errorf("got %+v, want 3 of 5 compared", seen)
	}
}

// TestRareDifferencesAreReported compares a server that is wrong once, and one that is
// wrong sometimes.
func TestRareDifferencesAreReported(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		compare := func(wrong func(n int) bool) *Report {
			n := 0
			var mu sync.Mutex
			lost := each(ofEvent(proto.EventChildrenChanged, func(p []byte) [][]byte {
				mu.Lock()
				defer mu.Unlock()
				if n++; wrong(n) {
					return nil
				}
				return [][]byte{p}
			}))
			report, err := Compare(t.Context(), fake(t, settings), mutant(t, settings, lost),
				Options{Families: []string{randomFamily}, Ops: 2000, Seed: 7})
			if err != nil || report.Equal() {
				t.Fatalf("not found: %v\n%s", err, report.Table())
			}
			return report
		}
		once := compare(func(n int) bool { return n == 10 })
		if len(once.Differences) != 0 || len(once.Unrepeated) != 1 ||
			!strings.Contains(once.Table(), "1 random scripts more differed once") {
			t.Fatalf("wrong once: %s", once.Table())
		}
		text := once.Explain(once.Unrepeated[0])
		check.Contains(t, text, "differs in 0 of 5 repetitions", "wrong once")
		rarely := compare(func(n int) bool { return n%40 == 0 })
		if len(rarely.Differences) == 0 {
			t.Fatalf("wrong sometimes: %s", rarely.Table())
		}
		if d := rarely.Differences[0]; d.Repeated == 0 || d.Repetitions != repetitions {
			t.Errorf("wrong sometimes: %s", rarely.Explain(d))
		}
	})
}

// TestUsedServersStayEqual compares twice two servers that have no common node but Root.
func TestUsedServersStayEqual(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		ops := testrun.Pick(1000, 10_000)
		a, b := fakezk.Start(t, settings), fakezk.Start(t, settings)
		a.Connect(t)
		put(t, a, "/mine", "/mine/too", "/and")
		put(t, b, "/others", "/zksim")
		for seed := range uint64(2) {
			wantEqual(t, targetOf(a), targetOf(b),
				Options{Families: []string{randomFamily}, Ops: ops, Seed: seed})
		}
	})
}

func targetOf(s *fakezk.Server) Target {
	return Target{Dial: func(context.Context) (net.Conn, error) { return s.Dialer()("tcp", "", 0) }}
}

// TestNoSessionStays runs comparisons that succeed, fail or are interrupted.
func TestNoSessionStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		a, b := fakezk.Start(t, settings), fakezk.Start(t, settings)
		for _, test := range []struct {
			name  string
			after int // interrupt after this number of scripts; -1: never
			opts  Options
		}{
			{
				"to the end", -1, Options{
					Families: []string{"framing", "sessions", randomFamily}, Ops: 500,
				},
			},
			{"interrupted", 3, Options{Families: []string{"sessions"}}},
			{"not fresh", -1, Options{Fresh: true}},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			scripts := 0
			test.opts.Progress = func(Progress) {
				if scripts++; scripts == test.after {
					cancel()
				}
			}
			report, err := Compare(ctx, targetOf(a), targetOf(b), test.opts)
			cancel()
			if (err == nil) != (test.name == "to the end") || !report.Equal() {
				t.Errorf("%s: %v\n%s", test.name, err, report.Table())
			}
			for i, s := range []*fakezk.Server{a, b} {
				if left := s.Sessions(); len(left) > 0 {
					t.Errorf("%s: server %d still has sessions: %+v", test.name, i, left)
				}
			}
		}
	})
}
