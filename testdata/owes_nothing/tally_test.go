package tally

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func counters(flaw func(*Counter)) scenario.Workload {
	return object.Counter(func(env object.Env) object.Counterer {
		c := &Counter{Conn: env.Conn, Path: env.Path}
		flaw(c)
		return c
	}, object.CounterClaims{Definite: true})
}

func queues(forgetful bool) scenario.Workload {
	return object.Queue(func(env object.Env) object.Queuer {
		return &Queue{Conn: env.Conn, Path: env.Path, Forgetful: forgetful}
	})
}

func right(*Counter) {}

func TestCounter(t *testing.T) { fuzz.Test(t, counters(right)) }
func TestQueue(t *testing.T)   { fuzz.Test(t, queues(false)) }

// TestAnAmbiguousAddIsAmbiguous: an Add whose reply is lost may have had its effect or not.
func TestAnAmbiguousAddIsAmbiguous(t *testing.T) {
	for _, line := range []string{
		"drop-reply client=a op=setData request=1", "drop-request client=a op=setData request=1",
	} {
		f, err := fault.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		s := scenario.Scenario{Workload: counters(right), Plan: []fault.Fault{f}, Seed: 1,
			Script: scenario.DefaultScript}
		o, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		unknown := 0
		for _, op := range o.History.Ops {
			if op.Outcome == linearizability.OpUnknown {
				unknown++
			}
		}
		if o.Status() != linearizability.OK || unknown != 1 {
			t.Errorf("%s: %s, %d unknown outcomes", line, o.Status(), unknown)
		}
	}
}

// TestFalseClaimsAreFound: code that says of a write that it has failed, or may have had its effect
// once, is held to that.
func TestFalseClaimsAreFound(t *testing.T) {
	for name, w := range map[string]scenario.Workload{
		"boastful counter": counters(func(c *Counter) { c.Boastful = true }),
		"stubborn counter": counters(func(c *Counter) { c.Stubborn = true }),
		"forgetful queue":  queues(true),
	} {
		found, err := hunt.Hunt{
			Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: 200,
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o := found.First(); o == nil {
			t.Errorf("%s: nothing is found", name)
		} else {
			t.Logf("%s violates %s", name, o.Property())
		}
	}
}
