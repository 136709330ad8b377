package real

import (
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// A control is a workload that is known to be wrong, with a fault that shows it.
type control struct {
	workload scenario.Workload
	fault    string
	property string
}

var controls = []control{
	{
		find("lock", "zk.Lock"),
		"drop-request client=a op=getChildren2 request=1", linearizability.Liveness,
	},
	{
		find("queue", "recipes.ApacheQueue"),
		"drop-reply client=a op=delete request=1", linearizability.Delivery,
	},
	{
		exhibit("create-repeated-blindly"),
		"drop-reply client=a op=create path=/lock/* request=2", linearizability.Liveness,
	},
	{
		exhibit("added-twice"),
		"drop-reply client=a op=setData request=1", linearizability.Delivery,
	},
}

// TestWrongOnesAreFound is the control of TestRightWorkloadsSurvive: a wrong workload
// does not survive.
func TestWrongOnesAreFound(t *testing.T) {
	t.Parallel()
	controls := controls
	if !testrun.Full() { // those that hang take 20 s
		controls = slices.DeleteFunc(slices.Clone(controls), func(c control) bool {
			return c.property == linearizability.Liveness
		})
	}
	p := startPool(t, len(controls))
	each(len(controls), func(i int) { isFound(t, p, controls[i]) })
}

// isFound plays a control without faults, and with its fault.
func isFound(t *testing.T, p *pool, c control) {
	t.Run(c.workload.Impl, func(t *testing.T) {
		script := scenario.Script{Clients: 1, Rounds: 1}
		s := scenario.Scenario{Workload: c.workload, Script: script, Seed: *seed}
		if o := play(t, p, s); o.Status() == linearizability.Violated {
			t.Errorf("without faults: %s", o.Story())
		}
		f, err := fault.Parse(c.fault)
		check.OK(t, err)
		s.Plan = []fault.Fault{f}
		o := play(t, p, s)
		for tries := 1; tries < 3 && busy(o, c.property); tries++ {
			o = play(t, p, s)
		}
		v, judged := o.Report.Verdict(c.property)
		if !judged || v.Status != linearizability.Violated {
			t.Errorf("%s is not violated: %s\n%s\n%s", c.property, v.Summary, o.Story(),
				o.Result.Trace)
		}
		t.Log(o.Summary())
	})
}

// busy reports whether the machine stalled, so that a run has no verdict.
func busy(o *scenario.Outcome, property string) bool {
	v, _ := o.Report.Verdict(property)
	return strings.HasPrefix(v.Summary, "the machine was too busy")
}

// play plays a scenario once.
func play(t *testing.T, p *pool, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := p.run(t, s)
	check.OK(t, err)
	return o
}

func find(name, impl string) scenario.Workload {
	w, err := builtin.Find(name, impl)
	if err != nil {
		panic(err)
	}
	return w
}

// exhibit is the wrong workload of an exhibit of the gallery. A real server has no nodes at first.
func exhibit(slug string) scenario.Workload {
	exhibits, err := gallery.Named(slug)
	if err != nil {
		panic(err)
	}
	w := exhibits[0].Wrong
	w.Nodes = nil
	return w
}
