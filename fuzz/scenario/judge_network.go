package scenario

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// overlayHint is the end of a verdict on code that needs the overlay.
func overlayHint() string {
	if sim.Overlaid {
		return ""
	}
	return "; zksim go test runs such code"
}

// onNetwork names the place at which code under test uses the real network; "" if it does not.
func onNetwork(stacks string) string {
	var told []string
	busy := false // a goroutine that rests waits for the World in the network's place
	for stack := range trace.Stacks(stacks) {
		if !trace.UsesNetwork(stack) {
			continue
		}
		busy = busy || trace.ActivityOf(stack) != trace.Rests
		what := "dials"
		if trace.LooksUp(stack) {
			what = "looks up a host"
		}
		where := ""
		if at, ok := innermostUser(framesOf(stack)); ok {
			where = "at " + at.source + " "
		}
		told = append(told, fmt.Sprintf("the run froze: %sa goroutine %s on the real network, "+
			"for which no virtual time can pass%s", where, what, overlayHint()))
	}
	if !busy {
		return ""
	}
	return slices.Max(told) // one with a place, if there is one
}

// OnNetwork reports whether the run is undecided because the code under test used the real network.
// Such code needs a program that zksim go has built.
func (o *Outcome) OnNetwork() bool {
	if o.Status() != linearizability.Unknown {
		return false
	}
	return o.usedNetwork || o.Result.Frozen != "" && onNetwork(o.Result.Frozen) != ""
}

// noServer matches the errors of a client that reaches no server.
var noServer = regexp.MustCompile(`could not connect to a server|connection refused|` +
	`network is unreachable|i/o timeout|lookup \S+( on \S+)?: |dial (tcp|udp)`)

// judgeNetwork looks for code that dials on the real network, in a simulated run without faults in
// which no request has come to the World. If a call has found no server, a hang or a call that
// fails for ever is no violation of the code's: the run is undecided. Other violations stay. They
// may have the same cause, if the code has reached a server elsewhere, and their verdicts say so.
func judgeNetwork(o *Outcome) {
	if len(o.Scenario.Plan)+len(o.Result.Requests)+len(o.Result.Panics) > 0 ||
		o.Result.Frozen != "" || sim.Overlaid {
		return
	}
	p := o.Property()
	for _, op := range o.History.Ops {
		if (p == "" || p == linearizability.Liveness) && noServer.MatchString(op.Err) {
			o.usedNetwork = true
			o.Report = linearizability.Report{Verdicts: []linearizability.Verdict{{
				Property: linearizability.Liveness, Status: linearizability.Unknown,
				Steps: []int64{op.Call, op.Return},
				Summary: fmt.Sprintf("client %s: %s found no server, though no fault was in its "+
					"way: the code seems to dial on the real network (%s)%s", op.Client, op.Kind,
					op.Err, overlayHint()),
			}}}
			return
		}
	}
	for i, v := range o.Report.Verdicts {
		if v.Status == linearizability.Violated {
			o.Report.Verdicts[i].Summary += "; no client has sent a request: " +
				"if the code dials by itself, use zksim go test"
		}
	}
}

// judgeSharing adds to what is violated in a run without faults that a client has sent no request,
// though its calls have succeeded and another client has sent some. In a World a client stands for
// a process; those that share a connection, in a variable of a package, are judged as several.
func judgeSharing(o *Outcome) {
	if len(o.Scenario.Plan)+len(o.Result.Panics) > 0 || len(o.Result.Requests) == 0 {
		return
	}
	silent := slices.IndexFunc(o.History.Ops, func(op linearizability.Op) bool {
		return op.OK() && !slices.ContainsFunc(o.Result.Requests,
			func(r trace.RequestPoint) bool { return r.Client == op.Client })
	})
	for i, v := range o.Report.Verdicts {
		if silent >= 0 && v.Status == linearizability.Violated {
			o.Report.Verdicts[i].Summary += fmt.Sprintf("; %s has sent no request, but "+
				"%s has: if they share a connection, give each client one of its own",
				o.History.Ops[silent].Client, o.Result.Requests[0].Client)
		}
	}
}
