package hunt_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// violating is an outcome with a verdict.
func violating(property, summary string) *scenario.Outcome {
	o := &scenario.Outcome{Result: &trace.Result{}}
	o.Report.Verdicts = []linearizability.Verdict{
		{Property: property, Status: linearizability.Violated, Summary: summary},
	}
	return o
}

func TestAlikeIgnoresNamesAndNumbers(t *testing.T) {
	const forgotten = "client a waits for /lock/_c_G1-lock-0000000000, which belongs to a's own " +
		"session S1 and was left by a's lock (steps 2 to 14, unknown: zk: connection closed): " +
		"a takes it for another's, and nobody will delete it"
	for _, c := range []struct {
		name, property, a, b string
		want                 bool
	}{
		{"another client, znode and error", linearizability.Liveness, forgotten,
			"client b waits for /l/n-7, which belongs to c's session S12 and was left by c's " +
				"lock (first attempt, create at step 7): c does not know of it, and nobody will " +
				"delete it",
			true},
		{"another call", linearizability.Liveness, forgotten,
			"client a waits for /lock/_c_G1-lock-0000000000, which belongs to a's own " +
				"session S1 and was left by a's lead (steps 2 to 14): a takes it for another's, and " +
				"nobody will delete it", false},
		{"another reason", linearizability.Liveness, forgotten,
			"client a waits for /lock/_c_G1-lock-0000000000, which does not exist: it missed the " +
				"delete and nothing will wake it", false},
		{"another proof", linearizability.Linearizability,
			"x: no order explains it: it goes wrong with a: cas(a2@0) -> a2@1 (steps 1 to 2)",
			"y: no order explains it: it goes wrong with b: read() -> \"nothing\"", true},
		{"another moment", linearizability.Linearizability,
			"a's add(1) -> 1 (steps 4 to 5), but the counter was 1 from step 2 on, 2 from step 4 on",
			"b's get() -> 0 (steps 14 to 15), but the counter was 3 from step 12 on", true},
		{"another last act", linearizability.Liveness,
			"take of c (steps 1 to 9) gave up; the last that c did or learned: getData /q (step 3)",
			"take of b (steps 1 to 9) gave up; the last that b did or learned: its client was told: " +
				"disconnected (step 3)", true},
		{"another last read", linearizability.Liveness,
			"the cache shows nothing of /c; a read /c last before that: getData /c: NoNode (step 5)",
			"the cache shows \"x\" of /c; the last time that b read /c it got no answer: getData /c",
			false}, // it shows something else
		{"another read of the same", linearizability.Liveness,
			"the cache shows nothing of /c; a read /c last before that: getData /c: NoNode (step 5)",
			"the cache shows nothing of /c; no read of /c by b has reached the server", true},
		{"another refused grant", linearizability.Belief,
			"a deleted c's znode /l at step 8, in a's unlock (steps 7 to 9), while c held the lock; " +
				"a's lock (steps 1 to 3) succeeded, but its last request was refused (create /l)",
			"a deleted b's znode /l at step 9 while b held the lock", true},
		{"another greedy take", linearizability.Delivery,
			"b's take (steps 1 to 9) removed x at step 8 and y at step 9, and can return only one: " +
				"element y, offered by a, is lost", "element a1, offered by a, is lost", true},
		{"another beginning of a row of failures", linearizability.Liveness,
			"its lock has failed 9 times in a row since step 4, when its unlock failed with: gone; " +
				"the last time with: held",
			"its lock has failed 9 times in a row since step 4, after create /x; " +
				"the last time with: held", true},
		{"a list", scenario.InvariantProperty,
			"a view names each address once: a was shown x/b=b1,y/a=a0",
			"a view names each address once: b was shown web/c=c1, web/c=c1, mail/b=b2", true},
		{"a long name", linearizability.Presence, "aaa has not been there for 1s",
			"b has not been there for 59s", true},
		{"a new process", linearizability.Orphans, "/x (a's session S1) was left by a's lock",
			"/x (b''s session S1) was left by b''s lock", true},
		{"times", linearizability.Belief, "b held on for 8.013s", "a held on for 1m0.5s", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := violating(c.property, c.a), violating(c.property, c.b)
			if got := hunt.Alike(a, b); got != c.want {
				t.Errorf("alike: %v; want %v\n%s\n%s", got, c.want, c.a, c.b)
			}
			if hunt.Alike(a, violating(linearizability.Safety, c.a)) {
				t.Error("violations of two properties are alike")
			}
		})
	}
}

// leakyLock leaves a node at each Lock, and takes a lost connection for a grant.
type leakyLock struct {
	object.Locker
	env object.Env
}

func (l leakyLock) Lock(ctx context.Context) error {
	err := l.Locker.Lock(ctx)
	_, _ = l.env.Conn.Create(l.env.Path+"/left", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, recipes.ErrLost) || errors.Is(err, zk.ErrConnectionClosed) {
		return nil
	}
	return err
}

func TestMinorViolationsDoNotEndAHunt(t *testing.T) {
	search := hunt.Hunt{
		Workload: object.Lock(func(env object.Env) object.Locker {
			return leakyLock{recipes.NewLock(env.Conn, env.Path), env}
		}).Named("leaky"),
		Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1, Runs: 300,
	}
	found, err := search.Run(t.Context())
	check.OK(t, err)
	var properties []string
	for _, f := range found.Findings {
		properties = append(properties, f.Property())
	}
	if len(properties) < 2 || found.First().Property() == linearizability.Orphans ||
		found.Findings[len(properties)-1].Property() != linearizability.Orphans {
		t.Errorf("found %v; want something grave, then orphans", properties)
	}

	for _, f := range found.Findings {
		search.Known = append(search.Known, f.Outcome)
	}
	again, err := search.Run(t.Context())
	check.OK(t, err)
	for _, f := range again.Findings {
		for _, known := range search.Known {
			if hunt.Alike(f.Outcome, known) {
				t.Errorf("found a known violation: %s: %s", f.Property(), f.Summary())
			}
		}
	}

	search.Known = nil
	search.Properties = []string{linearizability.Orphans}
	only, err := search.Run(t.Context())
	check.OK(t, err)
	if len(only.Findings) != 1 || only.Runs >= found.Runs {
		t.Errorf("%d findings in %d runs; want the first minor one, which was asked for, to end "+
			"the hunt", len(only.Findings), only.Runs)
	}
}

func TestMinimizeKeepsTheBug(t *testing.T) {
	search := hunt.Hunt{
		Workload: fuzztest.Builtin(t, "lock", "zk.Lock"), Script: scenario.Script{Clients: 2, Rounds: 2},
		Seed: 1, Runs: 150, Findings: testrun.Pick(2, 10),
	}
	found, err := search.Run(t.Context())
	check.OK(t, err)
	if len(found.Findings) < 2 {
		t.Fatalf("%d findings; want several ways to hang", len(found.Findings))
	}
	for _, f := range found.Findings {
		small, _, err := hunt.Minimize(t.Context(), f.Outcome)
		check.OK(t, err)
		if !hunt.Alike(small, f.Outcome) {
			t.Errorf("made another bug of\n%s\n%s", f.Summary(), small.Summary())
		}
	}
}

// twoLeaks leaves a znode at each Lock, at one of two places in its code.
type twoLeaks struct {
	object.Locker
	env object.Env
}

func (l twoLeaks) Lock(ctx context.Context) error {
	if err := l.Locker.Lock(ctx); err != nil {
		return err
	}
	if rand.Text() < "M" { // as the seed wants it
		return l.leaveHere()
	}
	return l.leaveThere()
}

func (l twoLeaks) leaveHere() error {
	_, err := l.env.Conn.Create(l.env.Path+"/left-", nil, zk.FlagEphemeralSequential,
		zk.WorldACL(zk.PermAll))
	return err
}

func (l twoLeaks) leaveThere() error {
	_, err := l.env.Conn.Create(l.env.Path+"/left-", nil, zk.FlagEphemeralSequential,
		zk.WorldACL(zk.PermAll))
	return err
}

func twoLeakyPlaces() hunt.Hunt {
	return hunt.Hunt{
		Workload: object.Lock(func(env object.Env) object.Locker {
			return twoLeaks{recipes.NewLock(env.Conn, env.Path), env}
		}).Named("two leaks"),
		Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1, Runs: 100,
		Properties: []string{linearizability.Orphans}, Findings: 2,
	}
}

// TestOrphansOfTwoPlacesAreTwoFindings whose summaries are alike.
func TestOrphansOfTwoPlacesAreTwoFindings(t *testing.T) {
	search := twoLeakyPlaces()
	found, err := search.Run(t.Context())
	check.OK(t, err)
	if len(found.Findings) != 2 {
		t.Fatalf("%d findings; want one for each place", len(found.Findings))
	}
	one, two := found.Findings[0].Outcome, found.Findings[1].Outcome
	if hunt.Alike(one, two) || !strings.Contains(one.Maker()+two.Maker(), ".leaveHere") ||
		!strings.Contains(one.Maker()+two.Maker(), ".leaveThere") {
		t.Errorf("made at %q and %q", one.Maker(), two.Maker())
	}

	search.Known = []*scenario.Outcome{one}
	if found, err = search.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(found.Findings) != 1 || !hunt.Alike(found.First(), two) {
		t.Errorf("%d findings; want the other place alone", len(found.Findings))
	}

	for _, o := range []*scenario.Outcome{one, two} {
		small, _, err := hunt.Minimize(t.Context(), o)
		check.OK(t, err)
		if small.Maker() != o.Maker() {
			t.Errorf("made %q of %q", small.Maker(), o.Maker())
		}
	}
}

// TestASweepTellsPlacesApart in its violations.
func TestASweepTellsPlacesApart(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker {
		return &retriesElsewhere{twoLeaks{recipes.NewLock(env.Conn, env.Path), env}}
	}).Named("retries elsewhere")
	sweep, err := hunt.RunSweep(t.Context(), scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: testrun.Pick(1, 2), Rounds: 1}, Seed: 1,
	}, hunt.Part{}, nil)
	check.OK(t, err)
	places := map[string]bool{}
	for _, v := range sweep.Violations {
		if v.Property == linearizability.Orphans {
			places[v.First.Maker()] = true
		}
	}
	if len(places) != 2 {
		t.Errorf("orphans of %d places; want 2: %v", len(places), places)
	}
}

// retriesElsewhere leaves a znode if its first look after a grant fails, at another place if the
// second one does.
type retriesElsewhere struct{ twoLeaks }

func (l *retriesElsewhere) Lock(ctx context.Context) error {
	if err := l.Locker.Lock(ctx); err != nil {
		return err
	}
	if _, _, err := l.env.Conn.Exists(l.env.Path); err != nil {
		return l.leaveHere()
	}
	if _, _, err := l.env.Conn.Exists(l.env.Path); err != nil {
		return l.leaveThere()
	}
	return nil
}
