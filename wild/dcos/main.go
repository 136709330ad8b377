// Command dcos hunts in the elector of dcos-go, as module wild does in other libraries. It is a
// module of its own, for the tests of dcos-go need an older Docker than wild has:
//
//	zksim go run -C wild/dcos . fuzz election --impl dcos-go
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dcos/dcos-go/elector"
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

func main() { cli.Main(dcosElection()) }

// dcosElection is a candidate with an elector at a time. An elector that has told of an error is
// over: the manual asks the process to end, and to be started anew, so the candidate takes another.
// No elector may end unless its connection does.
func dcosElection() scenario.Workload {
	w := object.Election(func(env object.Env) object.Elector {
		return &candidate{env: env}
	}, object.LockClaims{About: "the elector of dcos-go"}).Named("dcos-go")
	w.Judge = scenario.Invariants(scenario.Invariant{
		Name: "an elector ends only with its connection",
		Holds: func(e scenario.Evidence) error {
			for _, op := range e.History.Ops {
				if strings.Contains(op.Err, "zk: node ") { // does not exist, already exists
					return fmt.Errorf("%s's elector ends: %s", op.Client, op.Err)
				}
			}
			return nil
		},
	})
	w.Properties = []string{scenario.InvariantProperty, "liveness"}
	return w
}

type candidate struct {
	env     object.Env
	elector *elector.Elector // nil: no candidate
}

func (c *candidate) Lead(ctx context.Context) (err error) {
	if c.elector == nil {
		c.elector, err = elector.Start(c.env.Name, c.env.Path, nil, elector.NewConnection(
			[]string{c.env.Address}, elector.ConnectionOpts{ConnectTimeout: 4 * time.Second}))
		if err != nil {
			return err
		}
	}
	for {
		select {
		case e, open := <-c.elector.Events():
			if open && e.Err == nil && !e.Leader {
				continue
			}
			if open && e.Leader && e.Err == nil {
				return nil
			}
			return fmt.Errorf("the elector is over: %w", c.end(e.Err))
		case <-ctx.Done():
			return c.end(ctx.Err())
		}
	}
}

// end leaves the election.
func (c *candidate) end(err error) error {
	if c.elector != nil {
		_ = c.elector.Close()
		c.elector = nil
	}
	return err
}

func (c *candidate) Resign(context.Context) error { return c.end(nil) }

func (c *candidate) Close(context.Context) error { return c.end(nil) }
