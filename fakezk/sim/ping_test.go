package sim

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// idleClients are lockers that are idle in between, and that write lines and begin requests at
// the times of timers that the World knows nothing of.
func idleClients(n int) []Actor {
	actors := lockers(n, 1)
	for i, a := range actors {
		actors[i].Run = func(ctx context.Context, c *Client) {
			for round := range 3 {
				a.Run(ctx, c)
				<-time.After(time.Duration(i+2*round+1) * 1_300_000_007)
				c.Note("round %d", round)
				<-time.After(time.Duration(i+1) * 700 * time.Millisecond)
				_, _, err := c.Conn().Exists("/")
				c.Note("exists: %v", err)
			}
		}
	}
	return actors
}

func TestPingsThatArePutOffChangeNothing(t *testing.T) {
	for seed := range uint64(60) {
		w := World{Seed: seed, Plan: anyWorld(seed).Plan, Clients: idleClients(3),
			Limit:          time.Minute,
			SessionTimeout: time.Duration(4+seed%3*3) * time.Second}
		infos := fault.KindsFor(1)
		if info := infos[seed%uint64(len(infos))]; info.OnTime && info.Lasts {
			w.Plan = append(w.Plan, fault.Fault{Kind: info.Kind, At: 6 * time.Second,
				For: time.Duration(1+seed) * 200 * time.Millisecond})
		}
		late := mustRun(t, w)
		w.noDeferral = true
		prompt := mustRun(t, w)
		if diff := cmp.Diff(prompt.Trace.String(), late.Trace.String()); diff != "" {
			t.Fatalf("seed %d plan %v: traces differ:\n%s", seed, w.Plan, diff)
		}
		check.Diff(t, late.Messages(), prompt.Messages(), "seed %d: messages differ", seed)
		prompt.Trace, late.Trace = trace.Trace{}, trace.Trace{}
		if diff := cmp.Diff(prompt, late, cmpopts.IgnoreUnexported(trace.Trace{}, trace.Result{}),
			cmpopts.IgnoreFields(trace.Result{}, "BusyStacks")); diff != "" {
			t.Fatalf("seed %d plan %v: results differ:\n%s", seed, w.Plan, diff)
		}
	}
}
