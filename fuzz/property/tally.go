package property

import (
	"os"

	"pgregory.net/rapid"
)

// tally is what a test that passes rests on: its checks, those with faults, the faults, those that
// matched something, and the requests of the clients.
type tally struct{ checks, faulty, faults, struck, requests int }

// add counts a check that has passed.
func (t *tally) add(p *played) {
	t.checks++
	t.faulty += min(1, len(p.plan))
	t.faults += len(p.plan)
	t.struck += len(p.result.Strikes)
	for _, r := range p.result.Requests {
		if r.Client != observer {
			t.requests++
		}
	}
}

// report logs what a test that passes rests on. It fails if that is nothing.
func (t *tally) report(tb rapid.TB) {
	tb.Helper()
	if t.requests == 0 {
		tb.Fatalf("zksim: no client has sent a request in any of %d checks, so nothing was tested: "+
			"give the service a connection of World.Conn or World.Connect, and let the body wait "+
			"for it, as by World.Sleep", t.checks)
	}
	text := ""
	for _, variable := range []string{"ZKSIM_RUNS", "ZKSIM_SEED", "ZKSIM_SHARD"} {
		if os.Getenv(variable) != "" {
			text += " " + variable
		}
	}
	if text != "" {
		text = "; each process draws all its checks anew, so these variables have no effect:" + text
	}
	tb.Logf("zksim: survived %d checks, %d of them with faults: %d faults, of which %d struck; "+
		"the clients sent %d requests%s", t.checks, t.faulty, t.faults, t.struck, t.requests, text)
}
