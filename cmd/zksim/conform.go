package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
)

type conformCommand struct {
	Against string   `help:"A standalone ZooKeeper 3.8 that may be written to, below /zksim-conform." required:"" placeholder:"HOST:PORT"`
	Ops     int      `help:"Random operations to compare after the fixed scripts." default:"20000"`
	Seed    uint64   `help:"Seed of the random operations." default:"1"`
	Family  []string `help:"Compare this family only; may be repeated." placeholder:"NAME"`
	JSON    bool     `help:"Print JSON."`
}

// Run compares the built-in server with a running one, of whose settings it asks
// for the session timeouts; the others have to be as package conform says.
func (c *conformCommand) Run(a *app) (err error) {
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
		ContainerCheckInterval: 500 * time.Millisecond,
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
	report, err := conform.Compare(a.ctx, ours, real, conform.Options{
		Families: c.Family, Ops: c.Ops, Seed: c.Seed,
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
		for _, d := range report.Differences {
			fmt.Fprintf(a.out, "%s\n", report.Explain(d))
		}
		fmt.Fprint(a.out, report.Table())
	}
	if err == nil && !report.Equal() {
		err = errViolated
	}
	return err
}
