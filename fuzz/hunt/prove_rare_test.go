package hunt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// code is a call of a script, which says something.
type code func(p *scenario.Player) string

// rare is a scenario of two clients. The steps of their scripts are those of tiny, or code. A run
// is violated if it is the one that is looked for, by the calls of each client.
func rare(a, b []any, isIt func(a, b []linearizability.Op) bool) scenario.Scenario {
	s := tiny("", "")
	s.Workload.Play = func(p *scenario.Player, _ scenario.Script) {
		p.Conn()
		for _, step := range [][]any{a, b}[p.Index()] {
			do, isCode := step.(code)
			kind, path := "some code", ""
			if !isCode {
				kind, path, _ = strings.Cut(step.(string), " ")
			}
			p.Do(kind, path, func(context.Context) (r linearizability.Result, err error) {
				if isCode {
					r.Output = do(p)
				} else {
					r.Output, err = tinyStep(p, kind, path)
				}
				return r, err
			})
		}
	}
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: linearizability.Safety}
		of := map[string][]linearizability.Op{}
		for _, op := range e.History.Ops {
			of[op.Client] = append(of[op.Client], op)
		}
		if len(of["a"]) == len(a) && len(of["b"]) == len(b) && isIt(of["a"], of["b"]) {
			v.Status, v.Summary = linearizability.Violated, "it"
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	}
	return s
}

// awaits waits for a state of the connection.
func awaits(state zk.State) code {
	return func(p *scenario.Player) string {
		for e := range p.Events() {
			if e.State == state {
				break
			}
		}
		return ""
	}
}

// TestProofsFindRareRuns: each was once left out of a proof that was said to be complete.
func TestProofsFindRareRuns(t *testing.T) {
	t.Parallel()
	session := code(func(p *scenario.Player) string { return fmt.Sprint(p.Conn().SessionID()) })
	reads := code(func(p *scenario.Player) string { v, _ := tinyStep(p, "get", "/x"); return v })
	second := []time.Duration{time.Second}
	for _, c := range []struct {
		about string
		b     Bounds
		rare  scenario.Scenario
	}{
		{"a first call begins behind the other client's", Bounds{},
			rare([]any{"put /x"}, []any{"get /x"}, func(a, b []linearizability.Op) bool {
				return a[0].Return < b[0].Call
			})},
		{"and the other way round", Bounds{},
			rare([]any{"put /x"}, []any{"get /x"}, func(a, b []linearizability.Op) bool {
				return b[0].Return < a[0].Call
			})},
		{"a call begins before the end of a dial is told", Bounds{},
			rare([]any{awaits(zk.StateConnected)}, []any{"get /x", "get /y"},
				func(a, b []linearizability.Op) bool { return b[1].Call < a[0].Return })},
		{"calls of a kind with a space", Bounds{},
			rare([]any{reads, reads}, []any{reads, reads}, func(a, b []linearizability.Op) bool {
				return b[1].Call < a[0].Return
			})},
		{"a call fails before the other client's begins", Bounds{},
			rare([]any{"create /x"}, []any{"get /y"}, func(a, b []linearizability.Op) bool {
				return !a[0].OK() && a[0].Return < b[0].Call
			})},
		{"a session ends between sleeps of code", Bounds{Faults: 1},
			rare([]any{"get /x", "nap", session, "nap", session, "get /y"}, []any{"get /y"},
				func(a, _ []linearizability.Op) bool { return a[2].Output != a[4].Output })},
		{"a dial is refused behind the end of a pause", Bounds{Faults: 1, Lasting: second},
			rare([]any{"put /x"}, []any{code(pausesWhileItIsRefused)},
				func(_, b []linearizability.Op) bool { return b[0].Output == "refused" })},
		{"a call whose connection was lost returns before its effect", Bounds{Faults: 1},
			rare([]any{"get /y", "get /y", "get /y", code(storesBehind)}, []any{"get /y", "get /x"},
				func(a, b []linearizability.Op) bool {
					return a[3].Return < b[1].Call && b[1].OK() && b[1].Output == ""
				})},
		{"a sequential create is not refused", Bounds{},
			rareNumber(func(a, _ []linearizability.Op) bool { return a[0].Output == "made" })},
		{"and the other way round", Bounds{},
			rareNumber(func(a, _ []linearizability.Op) bool { return a[0].Output == "refused" })},
		{"a timer of the code ends within a pause", Bounds{},
			rareInTime("get /x")},
	} {
		t.Run(c.about, func(t *testing.T) {
			p, err := Prove(t.Context(), c.rare, c.b)
			check.OK(t, err)
			check.Equal(t, p.Violation != nil, true, "%s", p)
		})
	}
}

// rareNumber is a scenario of two clients that meet within a call. Then a makes a sequential node
// whose number is taken, and b deletes the node that has it.
func rareNumber(isIt func(a, b []linearizability.Op) bool) scenario.Scenario {
	meets := func(own, other string, do func(c *zk.Conn) string) code {
		return func(p *scenario.Player) string {
			c := p.Conn()
			_, _ = c.Create(own, nil, 0, everybody)
			awaitNode(c, other)
			return do(c)
		}
	}
	s := rare([]any{meets("/a", "/b", func(c *zk.Conn) string {
		if _, err := c.Create("/dir/n-", nil, zk.FlagSequence, everybody); err != nil {
			return "refused"
		}
		return "made"
	})}, []any{meets("/b", "/a", func(c *zk.Conn) string {
		for range 3 {
			_, _, _ = c.Get("/b")
		}
		_ = c.Delete("/dir/n-0000000001", -1)
		return ""
	})}, isIt)
	s.Workload.Nodes = map[string]string{"/dir": "", "/dir/n-0000000001": ""}
	return s
}

// rareInTime is a scenario that is violated if a timer of the code ends within a pause of a script.
// A proof sees that only when it plays a plan as in a hunt.
func rareInTime(second string) scenario.Scenario {
	pauses := code(func(p *scenario.Player) string { p.Pause(80 * time.Millisecond); return "" })
	sleeps := code(func(*scenario.Player) string { time.Sleep(20 * time.Millisecond); return "" })
	return rare([]any{pauses, "put /x"}, []any{sleeps, second}, func(a, b []linearizability.Op) bool {
		return b[1].Return < a[1].Call
	})
}

// TestRunsInTimeAreJudged: an unknown verdict is one of the result, however the work is shared. A
// violation that needs a fault has the fewest faults.
func TestRunsInTimeAreJudged(t *testing.T) {
	t.Parallel()
	s := rareInTime("get /x")
	judge := s.Workload.Judge
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := judge(e)
		if r.Verdicts[0].Status == linearizability.Violated {
			r.Verdicts[0].Status = linearizability.Unknown
		}
		return r, err
	}
	whole, _ := visit(t, s, Bounds{Faults: 1}, nil)
	check.Equal(t, whole.undecided, "it")
	if whole.unknown < 2 {
		t.Errorf("%d undecided runs; want some with a fault, too", whole.unknown)
	}
	file, unknown := filepath.Join(t.TempDir(), "left"), 0
	for _, part := range (Part{1, 3}).All() {
		b := Bounds{Faults: 1, Part: part, Runs: 9, Resume: file}
		v, _ := visit(t, s, b, func() {})
		unknown += v.unknown
		check.Equal(t, v.unknown == 0 || v.undecided == whole.undecided, true, "%s", v.undecided)
	}
	check.Equal(t, unknown, whole.unknown, "undecided runs of all shards")

	p, err := Prove(t.Context(), s, Bounds{})
	check.OK(t, err)
	check.Equal(t, p.Holds(), false)
	check.Contains(t, p.String(), "not decided: the verdicts on 1 run, of ")

	s = rareInTime("get /x") // which fails with a fault only
	of := s.Workload.Judge
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := of(e)
		for _, op := range e.History.Ops {
			if op.Kind == "get" && op.OK() {
				r.Verdicts[0].Status = linearizability.OK
			}
		}
		return r, err
	}
	p, err = Prove(t.Context(), s, Bounds{Faults: 1})
	check.OK(t, err)
	check.Equal(t, p.Violation != nil, true, "%s", p)
	says, _ := p.Smallest(t.Context(), p.Violation)
	check.Equal(t, says, "no run with fewer faults violates anything, for 2 clients, 1 round")
}

// TestCodeThatDrawsAtRandomIsNotProved, as only one of its runs would be known.
func TestCodeThatDrawsAtRandomIsNotProved(t *testing.T) {
	t.Parallel()
	draws := code(func(*scenario.Player) string { return fmt.Sprint(rand.Uint64()) })
	s := rare([]any{draws}, []any{"get /x"}, func(_, _ []linearizability.Op) bool { return false })
	_, err := Prove(t.Context(), s, Bounds{})
	check.Contains(t, fmt.Sprint(err), "two runs differ: ")
}

// storesBehind writes a node, again in the background if the connection is lost.
func storesBehind(p *scenario.Player) string {
	if _, err := p.Conn().Set("/x", []byte("a"), -1); err != nil {
		go func() { _, _ = p.Conn().Set("/x", []byte("a"), -1) }()
	}
	return ""
}

// pausesWhileItIsRefused says so if a write behind its pause is refused, before it has heard of a
// connection.
func pausesWhileItIsRefused(p *scenario.Player) string {
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn().Set("/y", nil, -1)
		done <- err
	}()
	paused := make(chan struct{})
	go func() {
		p.Pause(10 * time.Millisecond)
		close(paused)
	}()
	select {
	case <-done:
		return "too early"
	case <-paused:
	}
	for {
		select {
		case e := <-p.Events():
			if e.State == zk.StateConnected {
				return "connected"
			}
			continue
		default:
		}
		if errors.Is(<-done, zk.ErrNoServer) {
			return "refused"
		}
		return ""
	}
}

// TestShorterHoldsEndFirst, also those that began later.
func TestShorterHoldsEndFirst(t *testing.T) {
	t.Parallel()
	s := tiny("get /x", "nap, get /y")
	plan, err := parsePlan([]string{"delay 2s client=a request=1", "delay 500ms client=b request=1"})
	check.OK(t, err)
	p := newProver(s)
	p.visit = func(o *scenario.Outcome) {
		for _, op := range o.History.Ops {
			at := o.Result.Trace.Entry(op.Return).Time.Round(time.Millisecond)
			if want := 551 * time.Millisecond; op.Input == "/y" && at != want {
				t.Errorf("b's get returns at %v; want %v", at, want)
			}
		}
	}
	p.plan(plan)
	check.OK(t, p.run(t.Context()))
	check.Equal(t, p.Classes > 0, true, "classes")
}

// TestFaultsAtOnePlaceActInBothOrders: a request that is delayed can lose its reply, and one that
// has lost it comes no more.
func TestFaultsAtOnePlaceActInBothOrders(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, lines := range [][]string{
		{"delay 1s client=a request=1", "drop-reply client=a request=1"},
		{"drop-reply client=a request=1", "delay 1s client=a request=1"},
		{"drop-reply client=a request=1", "delay 1s client=b request=1"},
		{"delay 1s client=b request=1", "drop-reply client=a request=1"},
	} {
		plan, err := parsePlan(lines)
		check.OK(t, err)
		names[planName(plan)] = true
	}
	check.Equal(t, len(names), 3, "%v", names)
}

// TestRefusedDialsEndInEveryOrder with what others do: a lock that fails open is held beside
// another one.
func TestRefusedDialsEndInEveryOrder(t *testing.T) {
	t.Parallel()
	s := tiny("", "")
	s.Workload.Play = func(p *scenario.Player, _ scenario.Script) {
		conn := p.Conn()
		create := func(context.Context) (r linearizability.Result, err error) {
			for try := 0; try == 0 || errors.Is(err, zk.ErrConnectionClosed); try++ {
				_, err = conn.Create("/l", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			}
			if errors.Is(err, zk.ErrNoServer) {
				return linearizability.Result{Output: "open"}, nil
			}
			return r, err
		}
		if p.Do("lock", "", create) == nil {
			p.Pause(10 * time.Millisecond)
			p.Call("unlock", "", func(context.Context) error { return conn.Delete("/l", -1) })
		}
	}
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: linearizability.Safety}
		of := map[string]linearizability.Op{}
		for _, op := range e.History.Ops {
			of[op.Client+op.Kind] = op
		}
		a, b := of["alock"], of["block"]
		if a.OK() && b.OK() && (a.Output == "open") != (b.Output == "open") &&
			a.Return < of["bunlock"].Call && b.Return < of["aunlock"].Call {
			v.Status, v.Summary = linearizability.Violated, "two holds at once"
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	}
	p, err := Prove(t.Context(), s, Bounds{Faults: 1, Lasting: []time.Duration{time.Second}})
	check.OK(t, err)
	check.Equal(t, p.Violation != nil, true, "%s", p)
}

// TestProofsFindEveryOrderOfALoss: a client hears that its connection is lost before or behind the
// return of another's call.
func TestProofsFindEveryOrderOfALoss(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		s := rare([]any{"put /x"}, []any{"lock /y"}, nil)
		s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			v := linearizability.Verdict{Property: linearizability.Safety}
			lost := slices.IndexFunc(e.History.Notices, func(n linearizability.Notice) bool {
				return n.Client == "a" && n.Kind == linearizability.Disconnected
			})
			for _, op := range e.History.Ops {
				if op.Client == "b" && op.OK() && lost >= 0 &&
					(e.History.Notices[lost].Step < op.Return) == before {
					v.Status, v.Summary = linearizability.Violated, "it"
				}
			}
			return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
		}
		p, err := Prove(t.Context(), s, Bounds{Faults: 1})
		check.OK(t, err)
		check.Equal(t, p.Violation != nil, true, "before %v: %v", before, p)
	}
}

// TestProofAccusesNoClientsThatShareAConnection: its runs, in which no time passes, do not show it.
func TestProofAccusesNoClientsThatShareAConnection(t *testing.T) {
	t.Parallel()
	var last atomic.Pointer[zk.Conn]
	w := scenario.Workload{Name: "own", Impl: "sharing", Nodes: map[string]string{"/x": ""},
		Play: func(p *scenario.Player, _ scenario.Script) {
			last.Store(p.Conn())
			for range 3 {
				p.Do("get", "", func(context.Context) (r linearizability.Result, err error) {
					_, _, err = last.Load().Get("/x")
					return r, err
				})
			}
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "each client asks", Holds: func(
			scenario.Evidence) error {
			return errors.New("it is broken in each run")
		}}),
	}
	_, err := Prove(t.Context(), scenario.Scenario{Workload: w,
		Script: scenario.Script{Clients: 2, Rounds: 1}}, Bounds{})
	check.Contains(t, fmt.Sprint(err), " share a connection: ")
}
