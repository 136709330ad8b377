package hunt

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// tiny is a scenario in which each client plays a few steps, such as get /x. The judge does not
// know what to say of a run in which a client has read an empty node.
func tiny(scripts ...string) scenario.Scenario {
	w := scenario.Workload{
		Name: "steps", Impl: "tiny", Properties: []string{linearizability.Safety}, Nodes: map[string]string{"/x": "", "/y": "", "/dir": ""},
		Play: func(p *scenario.Player, _ scenario.Script) {
			p.Conn()
			for step := range strings.SplitSeq(scripts[p.Index()], ", ") {
				name, path, _ := strings.Cut(step, " ")
				if name == "pause" {
					p.Pause(10 * time.Millisecond)
					continue
				}
				kind := strings.Replace(name, ops.Await, "see", 1) // no call of a two-phase commit
				p.Do(kind, path, func(context.Context) (linearizability.Result, error) {
					value, err := tinyStep(p, name, path)
					return linearizability.Result{Output: value}, err
				})
			}
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			v := linearizability.Verdict{Property: linearizability.Safety}
			for _, op := range e.History.Ops {
				if op.OK() && op.Kind == "get" && op.Output == "" {
					v.Status, v.Summary = linearizability.Unknown, "nothing there"
				}
			}
			return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
		},
	}
	return scenario.Scenario{Workload: w, Script: scenario.Script{Clients: len(scripts), Rounds: 1},
		Seed: 1}
}

// tinyWith is tiny with a fault, unless that is "".
func tinyWith(t *testing.T, plan string, scripts ...string) scenario.Scenario {
	t.Helper()
	s := tiny(scripts...)
	if plan != "" {
		f, err := fault.Parse(plan)
		check.OK(t, err)
		s.Plan = []fault.Fault{f}
	}
	return s
}

func tinyStep(p *scenario.Player, name, path string) (value string, err error) {
	conn := p.Conn()
	switch name {
	case "get":
		data, _, err := conn.Get(path)
		return string(data), err
	case "store":
		stat, err := conn.Set(path, []byte(p.Name()), -1)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(stat.NumChildren), nil
	case "stat":
		_, stat, err := conn.Exists(path)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(stat.NumChildren, stat.Version, stat.Cversion), nil
	case "put":
		_, err = conn.Set(path, []byte(p.Name()), -1)
	case "putter": // writes if there is a child
		_, stat, err := conn.Exists(path)
		if err == nil && stat.NumChildren > 0 {
			_, err = conn.Set(path, []byte(p.Name()), -1)
		}
		return "", err
	case "look": // at the number of children, if the first reply is lost
		_, _, err := conn.Exists(path)
		if err != nil {
			return tinyStep(p, "putter", path)
		}
		return "", nil
	case "create":
		_, err = conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	case "ephemeral":
		_, err = conn.Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	case "number":
		value, err = conn.Create(path, nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	case "delete":
		err = conn.Delete(path, -1)
	case "list":
		names, _, err := conn.Children(path)
		return fmt.Sprint(names), err // in the order of the server
	case "watch":
		_, _, _, err = conn.ExistsW(path)
	case "lock", "unlock", "close", "take", "poll", "ack", "enter", "leave": // keeps nobody out
		_, _, err = conn.Exists(path)
	case "recall": // from memory
	case "nap":
		time.Sleep(50 * time.Millisecond)
	case "sync":
		_, err = conn.Sync(path)
	case "await": // what happens to a node, or a pause, whatever comes first
		_, _, changed, err := conn.ExistsW(path)
		if err != nil {
			return "", err
		}
		select {
		case e := <-changed:
			return e.Type.String(), nil
		case <-paused(p):
			return "", nil
		}
	case "hasty": // likewise, with the end of a context, or one made of it
		limited, cancel := p.Within(p.Context(), 10*time.Millisecond)
		defer cancel()
		ctx, stop := context.WithCancel(limited)
		defer stop()
		_, _, changed, err := conn.ExistsW(path)
		if err != nil {
			return "", err
		}
		select {
		case e := <-changed:
			return e.Type.String(), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return value, err
}

// paused is closed after a pause.
func paused(p *scenario.Player) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		p.Pause(10 * time.Millisecond)
		close(over)
	}()
	return over
}

// shown is what the clients see of a run, and its verdict.
func shown(o *scenario.Outcome) string {
	return strings.Join(views(o), "\n") + o.Status().String()
}

// inOrder is likewise, with which replies have come before which calls of another client: of holds
// and of what is answered from memory, or of all calls.
func inOrder(all bool) func(o *scenario.Outcome) string {
	return func(o *scenario.Outcome) string {
		text, calls := shown(o), map[string]int{}
		ops := slices.Clone(o.History.Ops)
		slices.SortFunc(ops, func(a, b linearizability.Op) int { return int(a.Call - b.Call) })
		var names []string
		for _, op := range ops {
			calls[op.Client]++
			names = append(names, fmt.Sprint(op.Client, calls[op.Client], " ", op.Kind))
		}
		var order []string
		for i, a := range ops {
			for j, b := range ops {
				recalls := a.Kind == "recall" || b.Kind == "recall"
				ofHolds := slices.Contains(holdBegins, a.Kind) && endsHold(ops, b)
				if a.Client != b.Client && a.OK() && a.Return < b.Call &&
					(all || ofHolds || recalls) {
					order = append(order, names[i]+" before "+names[j])
				}
			}
		}
		slices.Sort(order)
		return text + strings.Join(order, "\n")
	}
}

// endsHold reports whether a call ends a hold of its client: more calls have begun one before it
// than have ended one.
func endsHold(ops []linearizability.Op, call linearizability.Op) bool {
	holds := 0
	for _, op := range ops {
		switch {
		case op.Client != call.Client || !op.OK() || op.Return > call.Call:
		case slices.Contains(holdBegins, op.Kind):
			holds++
		case slices.Contains(holdEnds, op.Kind):
			holds--
		}
	}
	return holds > 0 && slices.Contains(holdEnds, call.Kind)
}

// mostRuns is the number of runs that a scenario of a test may have.
func mostRuns() int { return testrun.Pick(200, 3000) }

// everyRun is all that can be seen in the runs of a scenario, each of which it plays: the dumb
// twin of Prove. If there are more than most, it is not complete, and plays as many again at
// random.
func everyRun(t *testing.T, s scenario.Scenario, most int, show func(o *scenario.Outcome) string) (
	seen map[string]bool, runs int, complete bool,
) {
	t.Helper()
	seen = map[string]bool{}
	play := func(choose func(ways int) int) {
		o, err := s.RunBy(func(turn trace.Turn) int {
			if len(turn.Things) <= 1 {
				return 0
			}
			return choose(len(turn.Things))
		}, false)
		check.OK(t, err)
		if len(o.Result.Missed) == 0 || o.Status() != linearizability.OK {
			seen[show(o)] = true
		}
		runs++
	}
	var choices testrun.Choices
	for ; !complete && runs < most; complete = !choices.Next() {
		play(choices.Choose)
	}
	if !complete {
		draw := rand.New(rand.NewPCG(0, 0))
		for range most {
			play(draw.IntN)
		}
	}
	return seen, runs, complete
}

// missing are the views that some runs show and others do not.
func missing(want, got map[string]bool) (views []string) {
	for view := range want {
		if !got[view] {
			views = append(views, view)
		}
	}
	slices.Sort(views)
	return views
}

// everyClass is like everyRun for one run of each class, found with some mistake, and with true
// counts.
func everyClass(t *testing.T, s scenario.Scenario, show func(o *scenario.Outcome) string,
	mistake func(w *walk),
) (seen map[string]bool, classes int) {
	p := newProver(s)
	p.plan(s.Plan)
	mistake(p.trees[0].walk)
	return everyClassOf(t, p, show), p.Classes
}

func everyClassOf(t *testing.T, p *prover, show func(o *scenario.Outcome) string) (
	seen map[string]bool,
) {
	seen = map[string]bool{}
	p.visit = func(o *scenario.Outcome) { seen[show(o)] = true }
	check.OK(t, p.run(t.Context()))
	return seen
}

// TestProofShowsExactlyWhatEveryRunShows of scripts that are so small that every run is played.
func TestProofShowsExactlyWhatEveryRunShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan    string
		scripts []string
	}{
		{"", []string{"get /x", "recall /y"}},
		{"", []string{"store /x, pause", "recall /y"}},
		{"", []string{"get /x", "store /x"}},
		{"drop-reply client=a request=1", []string{"store /x", "recall /x"}},
		{"crash client=a request=1", []string{"store /x", "get /x"}},
	} {
		text := c.plan + " " + strings.Join(c.scripts, " | ")
		s, show := tinyWith(t, c.plan, c.scripts...), inOrder(true)
		want, runs, complete := everyRun(t, s, 1000, show)
		check.Equal(t, complete, true, "every run is played, of %s: %d", text, runs)
		got, _ := everyClass(t, s, show, func(w *walk) { w.all = true })
		check.List(t, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		deaf, _ := everyClass(t, s, show, func(w *walk) {
			w.all, w.deaf, w.noLoss = true, true, true
			w.commute = func(a, b trace.Thing) bool { return a.Client != b.Client }
		})
		check.Equal(t, len(deaf) < len(want), true, "the comparison notices a mistake, of %s", text)
	}
}

// TestFaultsStrikeEveryPlaceOfEveryRun: each request, notification and instant.
func TestFaultsStrikeEveryPlaceOfEveryRun(t *testing.T) {
	t.Parallel()
	s := tiny("await /x, nap, get /y", "store /x")
	want := map[string]bool{"": true}
	everyRun(t, s, 200, func(o *scenario.Outcome) string {
		add := func(kinds, format string, args ...any) {
			for kind := range strings.FieldsSeq(kinds) {
				want[kind+" client="+fmt.Sprintf(format, args...)] = true
			}
		}
		for _, r := range o.Result.Requests {
			add("drop-request drop-reply cut cut-mid-frame expire crash", "%s request=%d", r.Client,
				r.Number)
		}
		for _, e := range o.Result.Events {
			add("cut cut-mid-frame", "%s event=%d", e.Client, e.Number)
		}
		for _, op := range o.History.Ops {
			at := sim.Instant
			if op.Kind == "get" { // behind the nap
				at += o.Result.Trace.Entry(op.Call).Time
			}
			add("expire", "a at=%v", at)
			add("expire", "b at=%v", at)
		}
		return ""
	})
	p := newProver(s)
	p.Bounds.Faults = 1
	p.plan(nil)
	for tree := p.trees[0]; len(tree.walkers) > 0; {
		check.OK(t, p.playSome(t.Context()))
	}
	check.List(t, slices.Sorted(maps.Keys(p.planned)), slices.Sorted(maps.Keys(want)))
}
