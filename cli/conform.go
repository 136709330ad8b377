package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
)

type conformCommand struct {
	Against                string        `help:"A standalone ZooKeeper 3.8 that may be written to, below /zksim-conform." required:"" placeholder:"HOST:PORT"`
	Ops                    int           `help:"Random operations to compare after the fixed scripts." default:"20000"`
	Seed                   uint64        `help:"Seed of the random operations." default:"1"`
	Family                 []string      `help:"Compare this family only; may be repeated." placeholder:"NAME"`
	Fresh                  bool          `help:"The server is new and has had no client: compare requests about the root, too."`
	ContainerCheckInterval time.Duration `help:"The server's time between two searches for containers (-Dznode.container.checkIntervalMs); 500ms is short enough for the family reaping." default:"60s"`
	JSON                   bool          `help:"Print JSON."`
}

// Run compares the built-in server with a running one. It asks the running server for its session
// timeouts. The other settings of that server must be those of package conform.
func (c *conformCommand) Run(env *command.Env) error {
	if c.ContainerCheckInterval < time.Millisecond {
		return fmt.Errorf("--container-check-interval: %s; expected at least 1ms",
			c.ContainerCheckInterval)
	}
	if c.Ops < 0 {
		return fmt.Errorf("--ops: %d; expected 0 or more", c.Ops)
	}
	report, err := c.compare(env, conform.Target{Name: c.Against, Address: c.Against})
	if err != nil {
		return fmt.Errorf("compare with %s: %w", c.Against, err)
	}
	env.Progress.Clear()
	if c.JSON {
		err = env.JSON(report)
	} else {
		for _, d := range slices.Concat(report.Differences, report.Unrepeated) {
			env.Printf("%s\n", report.Explain(d))
		}
		env.Printf("%s", report.Table())
	}
	if err == nil && !report.Equal() {
		err = command.ErrViolated
	}
	return err
}

// compare starts a built-in server with the settings of a running one and compares them.
func (c *conformCommand) compare(
	env *command.Env, real conform.Target,
) (_ *conform.Report, err error) {
	shortest, longest, err := conform.SessionTimeouts(env.Context, real)
	if err != nil {
		return nil, err
	}
	server := fakezk.New(fakezk.Options{
		TickTime:               max(shortest/2, time.Millisecond), // as in ZooKeeper
		MinSessionTimeout:      shortest,
		MaxSessionTimeout:      longest,
		SuperDigest:            conform.SuperDigest,
		EnforceQuota:           true,
		ContainerCheckInterval: c.ContainerCheckInterval,
	})
	defer func() { err = errors.Join(err, server.Close()) }()
	dial := server.Dialer()
	ours := conform.Target{Name: "zksim", Dial: func(context.Context) (net.Conn, error) {
		return dial("tcp", fakezk.Address, 0)
	}}
	// Ask this server, too, so that both servers have had the same number of sessions.
	if _, _, err := conform.SessionTimeouts(env.Context, ours); err != nil {
		return nil, fmt.Errorf("the built-in server: %w", err)
	}
	return conform.Compare(env.Context, ours, real, conform.Options{
		Families: c.Family, Ops: c.Ops, Seed: c.Seed, Fresh: c.Fresh,
		Progress: func(p conform.Progress) {
			env.Progress.Show("%s: %d operations compared, %d differences",
				p.Family, p.Operations, p.Differences)
		},
	})
}
