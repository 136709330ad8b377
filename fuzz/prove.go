package fuzz

import (
	"cmp"
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/ballast"
)

// Bounds say how large the runs are that [Prove] plays. The zero value is two clients, one round,
// no faults and a minute. Memory grows with the number of plans of faults: the name of each is
// kept. With two faults there are often a hundred times as many as with one.
type Bounds struct {
	// Clients and Rounds are those of the script; 0 means 2 clients and 1 round.
	Clients, Rounds int
	// Servers is the number of servers; 0 means 1.
	Servers int
	// Faults is the greatest number of faults of a run, of the kinds that take no time. Those that
	// last are tried with the lengths of Lasting.
	Faults  int
	Lasting []time.Duration
	// HideCounts promises that the code does not look at Cversion, NumChildren and Pzxid of a
	// [zk.Stat], but for that of a list of children. A proof then has much fewer runs.
	HideCounts bool
	// Within is the real time that it may take; 0 means a minute.
	Within time.Duration
}

// Prove plays every run of a small script, once for each class of runs with equal orders of
// messages; see docs/hunting.md. It logs how many classes there are, which properties they have
// judged, and what is the same in all runs, so that it is not proved. It fails if a property is
// violated, as Test does, if a verdict is unknown, and if the time was too short to try all runs.
// The seed of the script is that of -zksim.seed. With -zksim.shard each process proves its part.
// Other flags do not change the script, and the log says so.
func Prove(t TB, w scenario.Workload, b Bounds) {
	t.Helper()
	defer ballast.Hold()()
	w.Impl = cmp.Or(w.Impl, t.Name())
	if runTask(t, w) {
		return
	}
	if err := checkFlags(); err != nil {
		t.Fatalf("zksim: %v", err)
	}
	if *flagReplay != "" {
		replay(t, w)
		return
	}
	defer keepNotes(t)()
	trySaved(t, w)
	ctx, stop := ending(t)
	defer stop()
	script := scenario.Script{Clients: cmp.Or(b.Clients, 2), Rounds: cmp.Or(b.Rounds, 1),
		Servers: b.Servers}
	p, err := hunt.Prove(ctx, scenario.Scenario{Workload: w, Script: script, Seed: *flagSeed},
		hunt.Bounds{Faults: b.Faults, Lasting: b.Lasting, HideCounts: b.HideCounts,
			For: cmp.Or(b.Within, time.Minute), Part: flagShard})
	if err == nil && p.Holds() {
		err = p.CheckJudged()
	}
	switch {
	case err != nil && ctx.Err() == nil:
		t.Fatalf("zksim: %v", err)
	case p.Violation != nil:
		fail(ctx, t, p.Violation, nil, smallest(ctx, p))
	}
	text := p.String() + because(ctx, p)
	if scope := p.Scope(); scope != nil {
		text += "\n" + scope.String()
	}
	if *flagClients+*flagGoroutines+flagServers.Number > 0 || *flagCareless {
		text += "\nthe script is that of fuzz.Bounds: -zksim.clients, -zksim.goroutines, -zksim.servers and " +
			"-zksim.careless do not change a proof"
	}
	switch {
	case p.Holds():
		t.Logf("zksim: %s", text)
	case !p.Complete && ctx.Err() == nil:
		text += "\nto get further, raise Within of fuzz.Bounds and go test -timeout; one client, or " +
			"no faults, take less time"
		fallthrough
	default:
		t.Fatalf("zksim: %s", text)
	}
}

// smallest says of a violation, made small, whether it has as few faults as possible, and what that
// does not prove.
func smallest(ctx context.Context, p *hunt.Proof) func(small *scenario.Outcome) string {
	return func(small *scenario.Outcome) string {
		says, scope := p.Smallest(ctx, small)
		switch {
		case says == "":
			return ""
		case scope != "":
			says += "\n" + scope
		}
		return "\nzksim: smallest: " + says + "\n"
	}
}

// because says why a proof is none.
func because(ctx context.Context, p *hunt.Proof) string {
	switch {
	case ctx.Err() != nil:
		return ": " + context.Cause(ctx).Error()
	case p.FirstUndecided != nil:
		return ": " + p.FirstUndecided.Summary()
	}
	return ""
}
