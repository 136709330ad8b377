package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/value"
)

// becomePrimary is the code under test: the client that creates /primary serves. A careless one
// does not look, after an error, whether it did.
func becomePrimary(conn *zk.Conn, name string, careless bool) (primary bool, err error) {
	for {
		_, err := conn.Create("/primary", []byte(name), 0, zk.WorldACL(zk.PermAll))
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNodeExists) && careless:
			return false, nil
		case errors.Is(err, zk.ErrNodeExists):
			data, _, err := conn.Get("/primary")
			return string(data) == name, err
		case !errors.Is(err, zk.ErrConnectionClosed):
			return false, err
		}
	}
}

const lostReply = "a reply to create was lost"

// primaries is a workload with an invariant and goals: the client named in /primary has learnt that
// it serves.
func primaries(careless bool, goals ...string) scenario.Workload {
	return scenario.Workload{
		Name: "primary", Impl: fmt.Sprintf("careless: %v", careless), Sometimes: goals,
		Play: func(p *scenario.Player, _ scenario.Script) {
			p.Persist(func(int) error {
				return p.Do("announce", "", func(context.Context) (linearizability.Result, error) {
					start := time.Now()
					primary, err := becomePrimary(p.Conn(), p.Name(), careless)
					if time.Since(start) > 50*time.Millisecond &&
						slices.Contains(goals, lostReply) {
						p.Sometimes(lostReply)
					}
					return linearizability.Result{Output: fmt.Sprint(primary)}, err
				})
			})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "who is written there serves",
			Holds: func(e scenario.Evidence) error {
				for _, op := range e.History.Ops {
					for _, ev := range e.History.Server {
						if ev.Path == "/primary" && ev.Data == op.Client &&
							op.Outcome == linearizability.OpOK && op.Output != "true" {
							return fmt.Errorf(
								"client %s is written there, and was told that it is not",
								op.Client,
							)
						}
					}
				}
				return nil
			}}),
	}
}

func TestRunChecksInvariants(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "50")
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	passes(t, "TestPrimary", primaries(false, lostReply))
	fails(t, "TestPrimary", primaries(true),
		"invariant is violated: who is written there serves: client a is written there")
}

// TestRunWantsItsGoals: a test that never reaches its goals fails, and lists those that it has not
// reached.
func TestRunWantsItsGoals(t *testing.T) {
	testrun.SetFlag(t, "zksim.runs", "20")
	smallScript(t)
	for want, goals := range map[string][]string{
		`the goal "the moon is full" was reached in none of`: {lostReply,
			"the moon is full"},
		`the goals "the moon is full", "it rains" were reached in none of`: {
			"the moon is full", lostReply, "it rains",
		},
	} {
		text := fails(t, "TestPrimary", primaries(false, goals...), want)
		check.Equal(t, strings.Contains(text, lostReply), false)
	}
}

// TestGoalsAreDeclared: otherwise a missed goal would go unnoticed.
func TestGoalsAreDeclared(t *testing.T) {
	w := primaries(false, "a reply to create was lots", lostReply)
	w.Sometimes = w.Sometimes[:1]
	fails(t, "TestPrimary", w, `the goal "a reply to create was lost" was reached, `+
		`which is none of Workload.Sometimes: ["a reply to create was lots"]`)
}

// TestRunWantsSomethingToJudge: a workload that records no calls passes only if it has a goal or an
// invariant.
func TestRunWantsSomethingToJudge(t *testing.T) {
	testrun.SetFlag(t, "zksim.runs", "1")
	smallScript(t)
	silent := func(
		judge func(scenario.Evidence) (linearizability.Report, error), goals ...string,
	) scenario.Workload {
		return scenario.Workload{Name: "own", Impl: "silent", Sometimes: goals, Judge: judge,
			Play: func(p *scenario.Player, _ scenario.Script) {
				_, _, err := p.Conn().Exists("/")
				if err == nil && goals != nil {
					p.Sometimes(goals[0])
				}
			}}
	}
	invariant := scenario.Invariant{
		Name: "holds", Holds: func(scenario.Evidence) error { return nil },
	}
	for about, c := range map[string]struct {
		workload scenario.Workload
		fails    bool
	}{
		"no invariant": {silent(scenario.Invariants()), true},
		"a judge of calls": {silent(func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(
				e.History, e.Rest, value.Counter{Path: "/tally"},
			), nil
		}), true},
		"an invariant": {silent(scenario.Invariants(invariant)), false},
		"a goal":       {silent(scenario.Invariants(), "was there"), false},
	} {
		failed, text := tested("TestSilent", c.workload)
		if failed != c.fails ||
			c.fails != strings.Contains(text, "no client has recorded a call in any of") {
			t.Errorf("%s: failed: %v; want %v\n%s", about, failed, c.fails, text)
		}
	}
}

func FuzzPrimary(f *testing.F) { fuzz.Fuzz(f, primaries(false)) }

// TestGoalsOfTheRunWithoutFaultsCount: here only the first run reaches one.
func TestGoalsOfTheRunWithoutFaultsCount(t *testing.T) {
	testrun.SetFlag(t, "zksim.runs", "1")
	smallScript(t)
	var once sync.Once
	w := primaries(false, "was there")
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		once.Do(func() { p.Sometimes("was there") })
		play(p, s)
	}
	passes(t, "TestPrimary", w)
}
