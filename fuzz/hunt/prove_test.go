package hunt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestProofShowsTheOrdersOfCallsAndReplies that every run shows: of those of holds, and of all if
// the proof listens to all.
func TestProofShowsTheOrdersOfCallsAndReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan    string
		scripts []string
	}{
		{"", []string{"lock /x, unlock /x", "lock /y, unlock /y"}},
		{"", []string{"lock /x, unlock /x", "lock /y, unlock /y", "lock /dir, unlock /dir"}},
		{"", []string{"pause, take /x, pause, ack /x", "take /y, ack /y"}},
		{"", []string{"enter /x, pause, leave /x, get /y", "store /y, enter /y"}},
		{"", []string{"lock /x, lock /x, unlock /x, unlock /x, close /x", "lock /y"}},
		{"", []string{"recall /x, get /x, recall /x", "get /y, get /y"}},
		{"", []string{"get /x, recall /x", "get /y, recall /y, get /y"}},
		{"drop-request client=a request=2", []string{"lock /x, unlock /x", "lock /y, close /y"}},
		{"expire client=a at=1µs", []string{"lock /x, unlock /x", "lock /y, unlock /y"}},
		{"expire client=b at=1µs", []string{"lock /x", "lock /y, unlock /y, close /y"}},
		{"stall 3s client=a request=2", []string{"lock /x, unlock /x", "lock /y, unlock /y"}},
	} {
		t.Run(c.plan+strings.Join(c.scripts, " | "), func(t *testing.T) {
			t.Parallel()
			s := tinyWith(t, c.plan, c.scripts...)
			for _, all := range []bool{false, true} {
				want, _, _ := everyRun(t, s, mostRuns(), inOrder(all))
				got, _ := everyClass(t, s, inOrder(all), func(w *walk) { w.all = all })
				check.Equal(t, len(missing(want, got)), 0, "orders that are not shown; all: %t", all)
				deaf, _ := everyClass(t, s, inOrder(all), func(w *walk) {
					w.all, w.deaf = all, true
				})
				check.Equal(t, len(missing(got, deaf)) > 0, true,
					"a deaf walk shows less: %d of %d; all: %t", len(deaf), len(got), all)
			}
		})
	}
}

// TestProofShowsAllThatEveryRunShows compares the classes of a proof with all runs, of scripts that
// are small enough for that.
func TestProofShowsAllThatEveryRunShows(t *testing.T) {
	t.Parallel()
	blind := func(a, b trace.Thing) bool { // to who is notified
		a.Notifies, b.Notifies = nil, nil
		return a.Commutes(b)
	}
	unnumbered := func(a, b trace.Thing) bool { // forgets the nodes of sequential creates
		a.Numbered, b.Numbered = nil, nil
		return a.Commutes(b)
	}
	unshared := func(a, b trace.Thing) bool { // forgets what changes share
		a.Updates, b.Updates = nil, nil
		return a.Commutes(b)
	}
	faultless := func(a, b trace.Thing) bool { // forgets that a fault acts
		for _, t := range []*trace.Thing{&a, &b} {
			if t.Own {
				t.Alone, t.Own, t.Writes, t.Updates = false, false, nil, nil
			}
		}
		return a.Commutes(b)
	}
	careless := func(a, b trace.Thing) bool { return a.Client != b.Client }
	everlasting := func(a, b trace.Thing) bool { // takes no node away with a session
		return a.Commutes(b) || (a.Kind == trace.Strikes || b.Kind == trace.Strikes) &&
			a.Client != b.Client
	}
	keeping := func(a, b trace.Thing) bool { // forgets what went before the end of its session
		for _, t := range []*trace.Thing{&a, &b} {
			t.Reads = slices.DeleteFunc(slices.Clone(t.Reads), func(part string) bool {
				return strings.HasSuffix(part, "-")
			})
		}
		return a.Commutes(b)
	}
	patient := func(a, b trace.Thing) bool { // no context and no pause ends before a message
		return a.Commutes(b) || a.Kind == trace.Wakes || b.Kind == trace.Wakes
	}
	right := trace.Thing.Commutes
	for _, c := range []struct {
		plan    string
		scripts []string
		wrong   func(a, b trace.Thing) bool // what the comparison must notice, besides noLoss
	}{
		{"", []string{"store /x, get /y", "get /x, store /y"}, careless},
		{"", []string{"get /x, get /y, store /x", "get /y, get /x"}, careless},
		{"", []string{"number /dir/n-, list /dir", "number /dir/n-, delete /dir/n-0000000000"}, careless},
		{"", []string{"number /dir/n-", "get /dir/n-0000000000, get /x"}, unnumbered},
		{"", []string{"watch /new, get /x, get /y", "store /y, create /new"}, blind},
		{"", []string{"number /dir/n-, get /x", "create /dir/m, get /y"}, unshared},
		{"", []string{"store /dir, get /x", "create /dir/m, create /dir/n"}, unshared},
		{"", []string{"create /dir/m, stat /dir", "create /dir/n, delete /dir/n"}, unshared},
		{"", []string{"create /dir/m, delete /dir/m", "create /dir/m, stat /dir/m"}, careless},
		{"", []string{"pause, store /x", "get /x, pause, get /x"}, careless},
		{"", []string{"await /x, get /y", "get /y, store /x"}, careless},
		{"", []string{"hasty /x, get /y", "get /y, store /x"}, careless},
		{"", []string{"hasty /x, get /x", "store /x"}, patient},
		{"", []string{"get /x", "store /x", "store /x"}, careless},
		{"", []string{"list /dir", "create /dir/m", "create /dir/n"}, careless},
		{"", []string{"putter /dir", "create /dir/m"}, careless},
		{"expire client=a request=2", []string{"ephemeral /e, get /x", "get /e, get /e"}, faultless},
		{"expire client=a at=1µs", []string{"ephemeral /e", "get /e, get /e"}, everlasting},
		{"expire client=a at=1µs", []string{"ephemeral /e", "get /e, delete /e"}, keeping},
		{"expire client=a at=1µs", []string{"ephemeral /e, delete /e", "get /e"}, careless},
		{"drop-reply client=a request=1", []string{"store /x, get /y", "store /y, get /x"}, careless},
		{"drop-request client=a request=2", []string{"await /x, get /y", "get /y, store /x"}, careless},
		{"cut client=a request=2", []string{"watch /x, get /y", "store /x, store /y"}, careless},
		{"cut client=a event=1", []string{"await /x, get /y", "get /y, store /x"}, right},
		{"expire client=a at=1µs", []string{"ephemeral /e, get /x", "get /e, delete /e"}, everlasting},
		{"crash client=a request=2", []string{"store /x, get /y", "get /x, store /y"}, careless},
		{"restart 1s client=a request=1", []string{"watch /x, get /y", "store /x, store /y"}, right},
		{"restart 1s client=a request=1", []string{"store /x", "get /x, store /y"}, faultless},
		{"stall 3s client=a request=2", []string{"watch /x, get /y", "store /x, store /y"}, careless},
		{"stall 3s client=a event=1", []string{"await /x, get /y", "get /y, store /x"}, right},
		{"stall-mid-frame 1s client=a request=1", []string{"await /x", "get /y, store /x"}, careless},
		{"delay 1s client=a request=2", []string{"store /x, get /y", "store /y, get /x"}, careless},
		{"pause 1s client=a request=2", []string{"watch /x, get /y", "store /x, store /y"}, careless},
		{"refuse 1s client=a request=2", []string{"await /x, get /y", "get /y, store /x"}, careless},
		{"respawn 1s client=a request=2", []string{"store /x, get /y", "get /x, store /y"}, careless},
		{"blackhole 1s client=a request=2", []string{"watch /x, get /y", "store /x"}, careless},
	} {
		t.Run(c.plan+strings.Join(c.scripts, " | "), func(t *testing.T) {
			t.Parallel()
			s := tinyWith(t, c.plan, c.scripts...)
			want, runs, _ := everyRun(t, s, mostRuns(), shown)
			got, classes := everyClass(t, s, shown, func(*walk) {})
			t.Logf("%d runs, %d classes, %d different", runs, classes, len(want))
			if not := missing(want, got); len(not) > 0 {
				t.Errorf("%d classes show %d of %d; missing, for instance:\n%s",
					classes, len(got), len(want), not[0])
			}
			if classes >= runs {
				t.Errorf("%d classes, %d runs; want fewer", classes, runs)
			}
			wrong, _ := everyClass(t, s, shown, func(w *walk) {
				w.commute, w.noLoss, w.all = c.wrong, true, false
			})
			if len(missing(got, wrong)) == 0 {
				t.Errorf("the comparison does not notice that things that differ count as equal")
			}
		})
	}
}

// TestProofHidesCounts of children from code that does not look at them, and shows all that every
// run with true counts shows. To code that looks it tells the truth.
func TestProofHidesCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		looks   bool
		scripts []string
	}{
		{false, []string{"get /dir, get /dir", "create /dir/m, delete /dir/m"}},
		{false, []string{"put /dir, get /x", "create /dir/m, put /x"}},
		{false, []string{"list /dir, get /dir", "create /dir/m, get /dir"}},
		{false, []string{"number /dir, get /dir", "number /dir/n, create /dir/m"}},
		{true, []string{"stat /dir, get /x", "create /dir/m, put /dir"}},
		{true, []string{"store /dir, get /x", "create /dir/m, create /dir/n"}},
		{true, []string{"get /x, putter /dir", "create /dir/m, get /x"}},
	} {
		t.Run(strings.Join(c.scripts, " | "), func(t *testing.T) {
			t.Parallel()
			s := tiny(c.scripts...)
			want, _, _ := everyRun(t, s, mostRuns(), shown)
			_, all := everyClass(t, s, shown, func(*walk) {})
			p := newProver(s)
			p.Bounds.HideCounts, p.Counts = true, false
			p.plan(nil)
			got := everyClassOf(t, p, shown)
			for view := range want {
				check.Equal(t, got[view], true, "missing:\n%s", view)
			}
			check.Equal(t, p.Proof.Counts, c.looks, "whether the code looks")
			says := strings.Contains(p.Scope().Hidden, "because the code promises")
			check.Equal(t, says, !c.looks, "whether the scope says why they are hidden")
			check.Equal(t, p.Classes == all, c.looks, "whether it takes all %d classes, and not %d",
				all, p.Classes)
		})
	}
}

// TestProofShowsCountsToCodeThatLooksBehindAFault when the first run of a plan shows that it does.
func TestProofShowsCountsToCodeThatLooksBehindAFault(t *testing.T) {
	t.Parallel()
	p := newProver(tiny("look /dir", "create /dir/m"))
	p.Bounds.HideCounts, p.Counts = true, false
	p.Bounds.Faults = 1
	p.plan(nil)
	check.OK(t, p.run(t.Context()))
	check.Equal(t, p.Proof.Counts, true, "the code looks when its reply is lost")
	check.Equal(t, p.Complete, true, "it began anew, and came to its end")
}

// TestProofShowsReadsOfThePast compares the classes of a proof with all runs, on two servers.
func TestProofShowsReadsOfThePast(t *testing.T) {
	t.Parallel()
	blind := func(a, b trace.Thing) bool { // to which changes a server has applied
		return a.Commutes(b) || a.Kind == trace.Applies || b.Kind == trace.Applies
	}
	careless := func(a, b trace.Thing) bool { return a.Client != b.Client }
	deaf := func(a, b trace.Thing) bool { // to what else a write makes a server apply
		for _, t := range []*trace.Thing{&a, &b} {
			t.Updates = nil
		}
		return a.Commutes(b)
	}
	for _, c := range []struct {
		plan    string
		scripts []string
		wrong   func(a, b trace.Thing) bool // what the comparison must notice
	}{
		{"", []string{"put /x", "get /x, get /x"}, blind},
		{"", []string{"put /x, get /y", "put /y, get /x"}, careless},
		{"", []string{"create /dir/m", "list /dir, sync /dir, list /dir"}, deaf},
		{"", []string{"watch /new, get /x", "create /new, put /x"}, blind},
		{"", []string{"create /dir/m, delete /dir/m", "create /dir/m, list /dir"}, blind},
		{"", []string{"ephemeral /e, close /x", "get /e, get /e"}, blind},
		{"cut client=a request=2", []string{"get /x, get /x", "put /x"}, blind},
		{"cut client=a request=2", []string{"put /x, get /y", "get /y, get /y"}, blind},
		{"cut client=a request=3", []string{"get /x, get /y, get /x", "put /x"}, blind},
		{"drop-reply client=a request=1", []string{"put /x, get /x", "get /x"}, blind},
		{"restart 1s client=a request=1", []string{"put /x, get /x", "get /x"}, blind},
		{"stall 3s client=a request=2", []string{"get /x, get /x", "put /x"}, careless},
		{"respawn 1s client=a request=2", []string{"get /x, get /x", "put /x"}, careless},
	} {
		t.Run(c.plan+strings.Join(c.scripts, " | "), func(t *testing.T) {
			t.Parallel()
			noticed := false
			for seed := range uint64(2) { // the seed says who is at which server
				s := tinyWith(t, c.plan, c.scripts...)
				s.Script.Servers, s.Seed = 2, 1+seed
				want, runs, _ := everyRun(t, s, mostRuns(), shown)
				got, classes := everyClass(t, s, shown, func(*walk) {})
				t.Logf("%d runs, %d classes, %d different", runs, classes, len(want))
				for _, view := range missing(want, got) {
					t.Errorf("seed %d: missing:\n%s", s.Seed, view)
				}
				wrong, _ := everyClass(t, s, shown, func(w *walk) {
					w.commute, w.noLoss, w.all = c.wrong, true, false
				})
				noticed = noticed || len(missing(got, wrong)) > 0
			}
			check.Equal(t, noticed, true, "the comparison notices what is wrongly held to commute")
		})
	}
}

// TestALongRunThatPausesIsNoLoop without a pause: pauses take no time in a proof.
func TestALongRunThatPausesIsNoLoop(t *testing.T) {
	w := &walker{}
	for range 300 {
		w.events = append(w.events, event{thing: trace.Thing{Kind: trace.AtServer}})
	}
	check.Equal(t, w.pauses(), false, "requests only")
	w.events[250].thing.Kind = trace.Wakes
	check.Equal(t, w.pauses(), true, "the script has paused")
}

// TestProofTriesHoldsAtOnce of which no request tells: one ends before the other begins, or behind.
func TestProofTriesHoldsAtOnce(t *testing.T) {
	t.Parallel()
	for begin, ends := range map[string][]string{
		"lock": {"unlock", "close"}, "take": {"ack"}, "poll": {"ack"}, "enter": {"leave"},
	} {
		for _, end := range ends {
			testHoldsAtOnce(t, begin, end)
		}
	}
}

func testHoldsAtOnce(t *testing.T, begin, end string) {
	t.Helper()
	s := tiny(begin+" /x, pause, "+end+" /x", "pause, pause, pause, "+begin+" /y, "+end+" /y")
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: linearizability.Safety}
		locked, unlocking := map[string]int64{}, map[string]int64{}
		for _, op := range e.History.Ops {
			if op.Kind == begin {
				locked[op.Client] = op.Return
			} else {
				unlocking[op.Client] = op.Call
			}
		}
		if locked["a"] < unlocking["b"] && locked["b"] < unlocking["a"] {
			v.Status, v.Summary = linearizability.Violated, "two holds at once"
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	}
	for _, deaf := range []bool{false, true} {
		p := newProver(s)
		p.plan(nil)
		p.trees[0].deaf = deaf
		check.OK(t, p.run(t.Context()))
		check.Equal(t, p.Violation != nil, !deaf, "two holds at once are found, from %s to %s; deaf: %t",
			begin, end, deaf)
	}
}

// TestProofsVisitTheSameClasses, in the same order, with one worker and with two.
func TestProofsVisitTheSameClasses(t *testing.T) {
	t.Parallel()
	w, err := builtin.Workloads().Find("lock", "")
	check.OK(t, err)
	lock := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1}
	visits := func(s scenario.Scenario, workers, faults int) (list []string) {
		p := newProver(s)
		p.workers, p.Bounds.Faults = workers, faults
		p.visit = func(o *scenario.Outcome) {
			list = append(list, planName(o.Scenario.Plan)+" "+o.Scenario.Schedule.String()+" "+
				o.Result.Trace.Hash())
		}
		p.plan(nil)
		check.OK(t, p.run(t.Context()))
		check.Equal(t, faults > 0 || p.Redundant == 0, true, "runs that were begun in vain")
		return list
	}
	withFault := visits(tiny("get /x", "recall /x"), 1, 1)
	check.List(t, visits(tiny("get /x", "recall /x"), 2, 1), withFault)
	check.Equal(t, len(withFault) > 50, true, "%d classes with a fault", len(withFault))
	first := visits(lock, 1, 0)
	check.List(t, visits(lock, 2, 0), first)
	slices.Sort(first)
	if len(slices.Compact(first)) < 50 {
		t.Errorf("%d classes; want each once, and many", len(first))
	}
}

// TestProofTriesTheOrdersOfAllCalls without a fault, whether their requests commute or not: the
// last call of a comes behind the return of b's.
func TestProofTriesTheOrdersOfAllCalls(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"get /x, recall /x", "get /x, get /y", "put /x, put /x"} {
		s := tiny(script, "put /x")
		s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			last := map[string]linearizability.Op{}
			var first linearizability.Op
			for _, op := range e.History.Ops {
				if last[op.Client] = op; op.Client == "a" && first.Kind == "" {
					first = op
				}
			}
			v := linearizability.Verdict{Property: linearizability.Safety}
			if first.Output == "" && last["b"].Return < last["a"].Call {
				v.Status, v.Summary = linearizability.Violated, "one behind the other"
			}
			return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
		}
		p, err := Prove(t.Context(), s, Bounds{})
		check.OK(t, err)
		check.Equal(t, p.Violation != nil, true, script)
	}
}

// TestSessionsEndAtEachInstant, also behind a sleep of the code, and in each order with what its
// client does then.
func TestSessionsEndAtEachInstant(t *testing.T) {
	t.Parallel()
	p := newProver(tiny("nap, ephemeral /e, get /e", "get /x"))
	p.Bounds.Faults = 1
	of := map[string]map[string]bool{}
	p.visit = func(o *scenario.Outcome) {
		if plan := planName(o.Scenario.Plan); strings.HasPrefix(plan, "expire client=a at=") {
			if of[plan] == nil {
				of[plan] = map[string]bool{}
			}
			of[plan][shown(o)] = true
		}
	}
	p.plan(nil)
	check.OK(t, p.run(t.Context()))
	check.Equal(t, len(of), 2, "instants: %v", slices.Collect(maps.Keys(of)))
	for plan, views := range of {
		check.Equal(t, strings.Contains(plan, "1µs") || len(views) > 2, true, "%s shows %d", plan,
			len(views))
	}
}

// TestASecondFaultStrikesTheNextProcess of a client that has died.
func TestASecondFaultStrikesTheNextProcess(t *testing.T) {
	t.Parallel()
	p := newProver(tinyWith(t, "respawn 1s client=a request=1", "get /x"))
	p.Bounds.Faults, p.Bounds.Lasting = 2, []time.Duration{time.Second}
	plan, err := parsePlan([]string{"respawn 1s client=a request=1"})
	check.OK(t, err)
	p.plan(plan)
	for tree := p.trees[0]; len(tree.walkers) > 0; {
		check.OK(t, p.playSome(t.Context()))
	}
	check.Equal(t, p.planned["respawn 1s client=a request=1; drop-reply client=a' request=1"], true)
}

// TestShardsDoNotHideCountsFromCodeThatLooks: one that does not see that it looks would hold.
func TestShardsDoNotHideCountsFromCodeThatLooks(t *testing.T) {
	t.Parallel()
	s := tiny("stat /dir, get /x", "create /dir/m, put /dir")
	_, err := Prove(t.Context(), s, Bounds{Faults: 1, HideCounts: true, Part: Part{1, 2}})
	check.Contains(t, fmt.Sprint(err), "play the proof in one process")
}

// TestARepeatedReleaseEndsOneHold of two.
func TestARepeatedReleaseEndsOneHold(t *testing.T) {
	t.Parallel()
	w := &walker{walk: &walk{}}
	w.begin()
	var ends bool
	for _, text := range []string{"calls lock", "lock returns", "calls lock", "lock returns",
		"calls unlock", "unlock returns", "calls unlock", "unlock returns", "calls unlock"} {
		ends = w.hear(trace.Said{Client: "a", Text: text}, map[trace.Said]int{}).Ends
	}
	check.Equal(t, ends, true, "the last call may end the other hold")
}

// TestSmallestWithoutFaultsNeedsNoLengths of faults that last.
func TestSmallestWithoutFaultsNeedsNoLengths(t *testing.T) {
	t.Parallel()
	b := Bounds{Faults: 1, Lasting: []time.Duration{time.Second}}
	p, err := Prove(t.Context(), failing(1, true), b)
	check.OK(t, err)
	other := *p.Violation
	other.Scenario.Script.Clients = 1
	says, _ := p.Smallest(t.Context(), &other)
	check.Contains(t, says, "no run with fewer faults violates anything")
}
