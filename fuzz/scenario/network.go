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
	waits := false // for the network, not for the World in its place
	for stack := range trace.Stacks(stacks) {
		if !trace.UsesNetwork(stack) {
			continue
		}
		waits = waits || trace.ActivityOf(stack) != trace.Rests
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
	if !waits {
		return ""
	}
	return slices.Max(told) // one with a place, if there is one
}

// OnNetwork reports whether the code under test used the real network, so that the run is
// undecided. Such code needs a program that zksim go has built.
func (o *Outcome) OnNetwork() bool {
	return o.elsewhere || o.Result.Frozen != "" && onNetwork(o.Result.Frozen) != ""
}

// noServer matches the errors of a client that reaches no server.
var noServer = regexp.MustCompile(`could not connect to a server|connection refused|` +
	`network is unreachable|i/o timeout|lookup \S+( on \S+)?: |dial (tcp|udp)`)

// judgeNetwork makes a run undecided if a call found no server although no fault was in its way:
// the code under test has dialled one on the real network. A run without any request may have the
// same cause, so its violation of liveness says so.
func judgeNetwork(o *Outcome) {
	if o.Scenario.On != nil || len(o.Scenario.Plan) > 0 || sim.Overlaid {
		return
	}
	for _, op := range o.History.Ops {
		if noServer.MatchString(op.Err) {
			o.elsewhere = true
			o.Report = linearizability.Report{Verdicts: []linearizability.Verdict{{
				Property: linearizability.Liveness, Status: linearizability.Unknown,
				Steps: []int64{op.Call, op.Return},
				Summary: fmt.Sprintf("client %s: %s found no server, though no fault was in its "+
					"way: the code dials on the real network (%s)%s", op.Client, op.Kind, op.Err,
					overlayHint()),
			}}}
			return
		}
	}
	if len(o.Result.Requests) > 0 {
		return
	}
	for i, v := range o.Report.Verdicts {
		if v.Property == linearizability.Liveness && v.Status == linearizability.Violated {
			o.Report.Verdicts[i].Summary += "; no client has sent a request: " +
				"code that dials by itself needs zksim go test"
		}
	}
}
