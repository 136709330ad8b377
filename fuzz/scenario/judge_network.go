package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

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

// NetworkHint says what to do with code that dials by itself, if the output of a process that has
// ended tells of a server that was not found; else it is "".
func NetworkHint(output string) string {
	if sim.Overlaid || !noServer.MatchString(output) {
		return ""
	}
	return "\nthe code seems to dial on the real network" + overlayHint()
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

// judgeConnections looks for connections of which no judge could know.
func judgeConnections(o *Outcome) {
	judgeNetwork(o)
	judgeSharing(o)
}

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

// SharesConn reports whether the run is undecided because its clients share a connection.
func (o *Outcome) SharesConn() bool { return o.sharesConn }

// judgeSharing looks for clients that share a connection, as in a variable of a package. A client
// stands for a process, and judges take such clients for several: the run is undecided.
//
// The sign is a call that has sent no request, and that ends with an answer to another client's. No
// two messages arrive at one instant, so that answer has woken the caller.
func judgeSharing(o *Outcome) {
	if o.Broke() || o.Scenario.Schedule.Kind != sim.Latencies { // others stop the time
		return
	}
	for _, op := range o.History.Ops {
		if !op.OK() || asked(o.Result, op, ClientOf(op.Client)) {
			continue
		}
		step, other := answerTo(o.Result, op)
		if step == 0 || !asked(o.Result, op, other) {
			continue
		}
		o.sharesConn = true
		o.Report = linearizability.Report{Verdicts: []linearizability.Verdict{{
			Property: linearizability.Liveness, Status: linearizability.Unknown,
			Steps: []int64{op.Call, step, op.Return},
			Summary: fmt.Sprintf("clients %s and %s share a connection: %s's %s (steps %d to %d) "+
				"sent no request, and an answer to %s's ended it (step %d). Each client stands for "+
				"a process: give it a connection of its own, or play one client "+
				"(-zksim.clients=1, or --clients 1)", ClientOf(op.Client), other, op.Client, op.Kind,
				op.Call, op.Return, other, step),
		}}}
		return
	}
}

// ClientOf is the client of one who acts: of a goroutine, or of a process behind another.
func ClientOf(actor string) string {
	client, _, _ := strings.Cut(actor, ".")
	return strings.TrimRight(client, "'")
}

// asked reports whether a client has sent a request during a call.
func asked(r *trace.Result, op linearizability.Op, client string) bool {
	return slices.ContainsFunc(r.Requests, func(q trace.RequestPoint) bool {
		return op.Call < q.Step && q.Step < op.Return && ClientOf(q.Client) == client
	})
}

// answerTo is the message that came at the instant at which a call ended, and whose it was. It is
// none if the caller has a line of its own there, such as of a connection that ends.
func answerTo(r *trace.Result, op linearizability.Op) (step int64, client string) {
	end, _ := r.Trace.Head(op.Return)
	for n := op.Return - 1; n > op.Call; n-- {
		e := r.Trace.Entry(n)
		if e.Time != end {
			break
		}
		if ClientOf(e.Actor) == ClientOf(op.Client) {
			return 0, ""
		}
		if strings.HasPrefix(e.Text, "<- ") {
			step, client = n, ClientOf(e.Actor)
		}
	}
	return step, client
}
