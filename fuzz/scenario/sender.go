package scenario

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
)

// Sender is the place in the code under test that sent the first request in which two outcomes of
// one scenario differ, a line for each place; "" if it is not found. It runs the scenario some times
// more. Each of these runs may differ from both, so the request and its place are those of one run.
func (o *Outcome) Sender(other *Outcome) string {
	request, ok := o.firstToDiffer(other)
	if !ok {
		return ""
	}
	var lines, seen []string
	for range mostSenderRuns {
		sent, places := o.Scenario.sendersOf(request, anyCall)
		at := strings.Join(places, " or at ")
		if at == "" || slices.Contains(seen, at) {
			continue
		}
		seen = append(seen, at)
		lines = append(lines, fmt.Sprintf("request #%d of client %s is sent at %s: %s %s",
			request.Number, request.Client, at, sent.Op, sent.Path))
	}
	return strings.Join(lines, "\nin another run ")
}

// mostSenderRuns bounds the runs that look for places. A request that one of two runs sends is
// missed by so many in one case of sixteen.
const mostSenderRuns = 4

// allRequests is no request, and stands for all of them.
var allRequests = trace.RequestPoint{Number: -1}

// Senders are the goroutines that may have sent the requests of the run. To find them, it runs the
// scenario once more. They are not known if that run differs, and of a run that was not played in a
// World of this process.
func (o *Outcome) Senders() []trace.Sender {
	if o.maker == nil || len(o.Result.Senders) > 0 || len(o.Result.Requests) == 0 {
		return o.Result.Senders
	}
	s := o.Scenario
	s.stackOf = allRequests
	again, err := s.Run()
	if err != nil || again.Result.Trace.Hash() != o.Result.Trace.Hash() {
		return nil
	}
	return again.Result.Senders
}

// PlaceOf is the place in the code under test, or in its script, of the goroutine of a stack: its
// innermost call there. It is the zero Frame if there is none.
func PlaceOf(stack string) runtime.Frame {
	f, _ := innermostUser(framesOf(stack))
	return runtime.Frame{Function: f.function, File: f.file, Line: f.line}
}

// sendersOf runs the scenario once more, and lists the places in the code under test that may have
// sent a request of a client, by its number. Goroutines that wait for the reply are there. A
// goroutine counts if counts accepts its stack. sent is that request, with the path of the trace.
func (s Scenario) sendersOf(request trace.RequestPoint, counts func(stack string) bool) (
	sent trace.RequestPoint, places []string,
) {
	s.stackOf = request
	again, err := s.Run()
	if err != nil {
		return sent, nil
	}
	for _, q := range again.Result.Requests {
		if q.Client == request.Client && q.Number == request.Number {
			sent, sent.Path = q, again.Result.Trace.Rename(q.Path)
		}
	}
	for _, sender := range again.Result.Senders {
		if at, ok := innermostUser(framesOf(sender.Stack)); ok && counts(sender.Stack) {
			places = append(places, at.source+" in "+importPath.ReplaceAllString(nameOf(at.function), ""))
		}
	}
	slices.Sort(places) // the runtime lists them in no order
	return sent, slices.Compact(places)
}

// importPath is the part of a function's name that a reader does not need.
var importPath = regexp.MustCompile(`[^ ]+/`)

func anyCall(string) bool { return true }

// firstToDiffer is the first request of only one of the runs; if there is none, the first at or
// after the line where the traces differ.
func (o *Outcome) firstToDiffer(other *Outcome) (trace.RequestPoint, bool) {
	mine, others := o.Result.Requests, other.Result.Requests
	for i, r := range mine {
		if i >= len(others) || r.Client != others[i].Client || r.Op != others[i].Op ||
			o.Result.Trace.Rename(r.Path) != other.Result.Trace.Rename(others[i].Path) {
			return r, true
		}
	}
	line, one, two := int64(1), o.Result.Trace, other.Result.Trace
	for line <= int64(one.Len()) && one.Line(line) == two.Line(line) {
		line++
	}
	i := slices.IndexFunc(mine, func(r trace.RequestPoint) bool { return r.Step >= line })
	if i < 0 {
		return trace.RequestPoint{}, false
	}
	return mine[i], true
}
