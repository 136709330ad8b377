package cli

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
)

type conformCommand struct {
	Against                string        `help:"A standalone ZooKeeper 3.8 that may be written to, below /zksim-conform." required:"" placeholder:"HOST:PORT"`
	Ops                    int           `help:"Random operations to compare after the fixed scripts." default:"20000"`
	Seed                   uint64        `help:"Seed of the random operations." default:"1"`
	Family                 []string      `help:"Compare this family only; may be repeated." placeholder:"NAME"`
	Fresh                  bool          `help:"It has just been started, with no client yet: compare what shows at the root, too."`
	ContainerCheckInterval time.Duration `help:"The other's time between two searches for containers (-Dznode.container.checkIntervalMs); 500ms is short enough for the family reaping." default:"60s"`
	JSON                   bool          `help:"Print JSON."`
}

// Run compares the built-in server with a running one, of whose settings it asks
// for the session timeouts; the others have to be as package conform says.
func (c *conformCommand) Run(a *app) (err error) {
	if c.ContainerCheckInterval < time.Millisecond {
		return fmt.Errorf("--container-check-interval: %s; expected at least 1ms", c.ContainerCheckInterval)
	}
	if c.Ops < 0 {
		return fmt.Errorf("--ops %d: expected 0 or more", c.Ops)
	}
	real := conform.Target{Name: c.Against, Address: c.Against}
	shortest, longest, err := conform.SessionTimeouts(a.ctx, real)
	if err != nil {
		return fmt.Errorf("compare with %s: %w", c.Against, err)
	}
	server := fakezk.New(fakezk.Options{
		TickTime:               max(shortest/2, time.Millisecond), // ZooKeeper's own relation
		MinSessionTimeout:      shortest,
		MaxSessionTimeout:      longest,
		SuperDigest:            conform.SuperDigest,
		EnforceQuota:           true,
		ContainerCheckInterval: c.ContainerCheckInterval,
	})
	defer func() {
		if closed := server.Close(); err == nil {
			err = closed
		}
	}()
	dial := server.Dialer()
	ours := conform.Target{Name: "zksim", Dial: func(context.Context) (net.Conn, error) {
		return dial("tcp", fakezk.Address, 0)
	}}
	if _, _, err := conform.SessionTimeouts(a.ctx, ours); err != nil { // as many sessions as there
		return fmt.Errorf("compare with %s: the built-in server: %w", c.Against, err)
	}
	report, err := conform.Compare(a.ctx, ours, real, conform.Options{
		Families: c.Family, Ops: c.Ops, Seed: c.Seed, Fresh: c.Fresh,
		Progress: func(p conform.Progress) {
			a.progress.show("%s: %d operations compared, %d differences", p.Family, p.Operations, p.Differences)
		},
	})
	if err != nil {
		return fmt.Errorf("compare with %s: %w", c.Against, err)
	}
	a.progress.clear()
	if c.JSON {
		err = a.json(report)
	} else {
		for _, d := range slices.Concat(report.Differences, report.Unrepeated) {
			fmt.Fprintf(a.out, "%s\n", report.Explain(d))
		}
		fmt.Fprint(a.out, report.Table())
	}
	if err == nil && !report.Equal() {
		err = errViolated
	}
	return err
}
