package object_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// tally is a counter that a user may write: it repeats compare and set until that succeeds.
type tally struct {
	conn *zk.Conn
	path string
	// blind says that add repeats a set without a reply.
	blind bool
}

func (c *tally) add(delta int64) (int64, error) {
	for {
		data, stat, err := c.conn.Get(c.path)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = c.conn.Create(c.path, []byte("0"), 0, zk.WorldACL(zk.PermAll))
			if err == nil || errors.Is(err, zk.ErrNodeExists) {
				continue
			}
		}
		if err != nil {
			return 0, err
		}
		value, err := strconv.ParseInt(string(data), 10, 64)
		if err != nil {
			return 0, err
		}
		_, err = c.conn.Set(c.path, []byte(strconv.FormatInt(value+delta, 10)), stat.Version)
		switch {
		case err == nil:
			return value + delta, nil
		case errors.Is(err, zk.ErrBadVersion), c.blind && errors.Is(err, zk.ErrConnectionClosed):
		default:
			return 0, err
		}
	}
}

// tallyWorkload is a workload of a kind that package object does not have.
func tallyWorkload(impl string, blind bool) scenario.Workload {
	const path = "/tally"
	return scenario.Workload{
		Name: "tally", Impl: impl, About: "adds up",
		Play: func(p *scenario.Player, s scenario.Script) {
			c := &tally{p.Conn(), path, blind}
			for range s.Rounds {
				err := p.Do(ops.Add, "1", func(context.Context) (linearizability.Result, error) {
					value, err := c.add(1)
					return linearizability.Result{Output: strconv.FormatInt(value, 10)}, err
				})
				if err != nil { // it may have taken effect, so it is not repeated
					p.Pause(100 * time.Millisecond)
				}
			}
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(
				e.History, e.Rest, value.Counter{Path: path},
			), nil
		},
	}
}

func TestWorkloadsOfOtherKindsSurvive(t *testing.T) {
	t.Parallel()
	w := tallyWorkload("right", false)
	found, err := hunt.Hunt{
		Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: 10, CheckDeterminism: true,
	}.Run(t.Context())
	if err != nil || found.First() != nil || len(found.Divergences) > 0 {
		t.Errorf("found %v, diverged %q, %v", found.First(), found.Divergences, err)
	}
	small := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1}
	sweep, err := hunt.RunSweep(t.Context(), small, hunt.Part{}, nil)
	if err != nil || sweep.Violated > 0 || sweep.Total < 50 {
		t.Errorf("%d of %d fault points violated, %v", sweep.Violated, sweep.Total, err)
	}
}

func TestMutantsOfOtherKindsAreFound(t *testing.T) {
	t.Parallel()
	e := gallery.Exhibit{
		Slug: "blind", Property: linearizability.Delivery, Script: scenario.DefaultScript,
		Wrong: tallyWorkload("blind", true),
	}
	h, err := e.Find(t.Context(), 1, 400)
	if err != nil || !h.Found() {
		t.Errorf("found %v in %d scenarios, %v", h.Found(), h.Runs, err)
	}
}
