package hunt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestKnownRunsGoLikeThoseThatTellOfThem plays what a sweep need not play: such a run violates
// nothing, and clients and judges hear the same in it, to the nanosecond. Without -full it plays
// some places of some workloads, and with it all, and every ninth of all exhibits of the gallery.
func TestKnownRunsGoLikeThoseThatTellOfThem(t *testing.T) {
	small := scenario.Script{Clients: 2, Rounds: 1}
	ensemble := scenario.Script{Clients: 2, Rounds: 1, Servers: 3}
	for _, c := range []struct {
		workload string
		script   scenario.Script
		every    int // place is played without -full
	}{
		{"lock", scenario.DefaultScript, 17},
		{"queue", small, 9},
		{"membership", small, 41},
		{"registry", small, 71},
		{"lock", ensemble, 31},
	} {
		t.Run(fmt.Sprint(c.workload, " ", c.script), func(t *testing.T) {
			t.Parallel()
			places := placesOf(t, scenario.Scenario{
				Workload: fuzztest.Builtin(t, c.workload, ""), Script: c.script, Seed: 1,
			}, testrun.Pick(c.every, 1))
			for _, difference := range places.differences(hunt.SameRuns) {
				t.Error(difference)
			}
			if places.known < places.points/20 {
				t.Errorf("of %d points %d are known; want more", places.points, places.known)
			}
		})
	}
	if !testrun.Full() {
		return
	}
	for _, e := range gallery.Exhibits() {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			places := placesOf(t, scenario.Scenario{Workload: e.Wrong, Script: small, Seed: 1}, 9)
			for _, difference := range places.differences(hunt.SameRuns) {
				t.Error(difference)
			}
		})
	}
}

// TestWrongKnowledgeIsFound: if any longer fault passes for a shorter one, or any delay for a
// stall, or any lost reply for a lost request, some runs differ.
func TestWrongKnowledgeIsFound(t *testing.T) {
	places := placesOf(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "queue", ""), Script: scenario.Script{Clients: 2, Rounds: 1},
		Seed: 1,
	}, testrun.Pick(9, 1))
	for name, planted := range map[string]func(told, other fault.Fault) bool{
		"longer": func(told, other fault.Fault) bool { return told.Kind == other.Kind },
		"delay": func(told, other fault.Fault) bool {
			return told.Kind == fault.Stall && other.Kind == fault.Delay && told.For == other.For
		},
		"reply": func(told, other fault.Fault) bool {
			return told.Kind == fault.DropRequest && other.Kind == fault.DropReply
		},
	} {
		if len(places.differences(func(_, o *scenario.Outcome, others []fault.Fault) []fault.Fault {
			return slices.DeleteFunc(slices.Clone(others), func(f fault.Fault) bool {
				return !planted(o.Scenario.Plan[0], f)
			})
		})) == 0 {
			t.Errorf("%s: no difference is found", name)
		}
	}
}

// places are outcomes of all faults at some of the places of a run.
type places struct {
	base          *scenario.Outcome
	list          [][]*scenario.Outcome
	points, known int
}

// placesOf plays every fault at each n-th of the places of a scenario.
func placesOf(t *testing.T, s scenario.Scenario, each int) *places {
	t.Helper()
	p := &places{base: run(t, s)}
	if p.base.Status() == linearizability.Violated {
		return p // as in a sweep
	}
	var order []fault.Fault // without kinds and durations
	faults := map[fault.Fault][]fault.Fault{}
	for _, f := range hunt.FaultPoints(p.base) {
		place := fault.Fault{Client: f.Client, Request: f.Request, Event: f.Event}
		if faults[place] == nil {
			order = append(order, place)
		}
		faults[place] = append(faults[place], f)
	}
	for i := 0; i < len(order); i += each {
		var outcomes []*scenario.Outcome
		for _, f := range faults[order[i]] {
			s.Plan = []fault.Fault{f}
			outcomes = append(outcomes, run(t, s))
			p.points++
		}
		p.list = append(p.list, outcomes)
	}
	return p
}

// differences lists how runs differ from those that tell of them.
func (p *places) differences(
	same func(base, o *scenario.Outcome, others []fault.Fault) []fault.Fault,
) (list []string) {
	p.known = 0
	for _, outcomes := range p.list {
		var faults []fault.Fault
		for _, o := range outcomes {
			faults = append(faults, o.Scenario.Plan[0])
		}
		known := map[fault.Fault]bool{}
		for i, o := range outcomes {
			if known[faults[i]] {
				continue // it is not played, and tells of nothing
			}
			for _, f := range same(p.base, o, faults[i+1:]) {
				if !known[f] {
					p.known++
					known[f] = true
				}
				if d := difference(o, outcomes[slices.Index(faults, f)]); d != "" {
					list = append(list, fmt.Sprintf("%s, and %s: %s", faults[i], f, d))
				}
			}
		}
	}
	return list
}

// difference says how two runs differ in what clients and judges hear.
func difference(o, other *scenario.Outcome) string {
	if other.Status() != linearizability.OK {
		return fmt.Sprintf("it is %v: %s", other.Status(), other.Summary())
	}
	a, b := heard(o), heard(other)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("of %d lines and %d, the first that differ:\n%s%s", len(a), len(b),
				strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""),
				strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
		}
	}
	return ""
}

// heard are the facts of a run, and the lines, with nanoseconds: all but those of the fault, those
// of connections that their clients had closed, and that of a read whose reply is lost.
func heard(o *scenario.Outcome) []string {
	f, r := o.Scenario.Plan[0], o.Result
	unheard := map[int64]bool{}
	for _, m := range r.Messages() {
		for _, h := range r.HangUps {
			if !m.Up && h.Client == m.Client && h.Conn == m.Conn && m.Step > 0 &&
				r.Trace.Entry(m.Step).Time > h.Time {
				unheard[m.Step] = true
			}
		}
	}
	lines := []string{fmt.Sprintf("%d missed, goals %q, at rest %s: %v %v %v\n", len(r.Missed),
		o.Reached, r.Elapsed, r.Nodes, r.Sessions, r.Watches)}
	for n := range int64(r.Trace.Len()) {
		e := r.Trace.Entry(n + 1)
		ofFault := e.Actor == f.Client && (strings.HasPrefix(e.Text, "connection ") ||
			f.Kind == fault.DropReply && len(r.Strikes) > 0 &&
				strings.HasPrefix(e.Text, fmt.Sprintf("-> #%d ", f.Request)))
		if !unheard[n+1] && !ofFault && e.Actor != "fault" {
			lines = append(lines, fmt.Sprintln(int64(e.Time), e.Actor, e.Text))
		}
	}
	return lines
}

// TestSweepsKnowWhatIsSoWhenPlayed compares sweeps with the outcomes of all their points.
func TestSweepsKnowWhatIsSoWhenPlayed(t *testing.T) {
	for _, c := range []struct{ workload, impl string }{
		{"lock", ""}, {"lock", "zk.Lock"}, {"queue", "recipes.ApacheQueue"},
	} {
		s := scenario.Scenario{Workload: fuzztest.Builtin(t, c.workload, c.impl), Seed: 1,
			Script: testrun.Pick(scenario.Script{Clients: 1, Rounds: 1}, scenario.DefaultScript)}
		sweep, err := hunt.RunSweep(t.Context(), s, hunt.Part{}, nil)
		check.OK(t, err)
		var survived, violated, missed int
		found := map[string][]fault.Fault{}
		for _, f := range hunt.FaultPoints(sweep.Base) {
			s.Plan = []fault.Fault{f}
			o := run(t, s)
			missed += len(o.Result.Missed)
			switch o.Status() {
			case linearizability.OK:
				survived++
			case linearizability.Violated:
				violated++
				found[o.Property()] = append(found[o.Property()], f)
			}
		}
		check.Equal(t, sweep.Survived, survived, "%s: survived", c)
		check.Equal(t, sweep.Violated, violated, "%s: violated", c)
		check.Equal(t, sweep.Missed, missed, "%s: missed", c)
		check.Equal(t, sweep.Points, sweep.Total, "%s: points", c)
		check.Equal(t, sweep.Known > 0, true, "%s: some points are known", c)
		faults := map[string]int{}
		for _, v := range sweep.Violations {
			faults[v.Property] += len(v.Faults)
			for _, f := range v.Faults {
				check.Equal(t, slices.Contains(found[v.Property], f), true, "%s: %s", c, f)
			}
		}
		for property, list := range found {
			check.Equal(t, faults[property], len(list), "%s: points that violate %s", c, property)
		}
	}
}
