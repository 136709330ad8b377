package scenario

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// runawayVerdict is the verdict on a run that was ended because the code under test would have
// worked without end.
func runawayVerdict(r *trace.Result) linearizability.Verdict {
	w, steps := r.Runaway, []int64{r.Runaway.Step}
	switch {
	case w.Requests > 0:
		return violatedLiveness(steps,
			"client %s gets no further: the code under test has sent %d requests since step %d "+
				"without a pause%s", w.Client, w.Requests, w.Step, cycle(r.Requests, w.Client))
	case w.Lines > 0:
		return violatedLiveness(steps, "client %s gets no further: its script has written %d "+
			"lines at one instant, at step %d", w.Client, w.Lines, w.Step)
	}
	begun := ""
	if function, source := begunBy(w.Stack); function != "" {
		begun = fmt.Sprintf(", most of them begun at %s by %s", source, nameOf(function))
	}
	return violatedLiveness(steps,
		"goroutines without number: at step %d the code under test has %d%s", w.Step,
		w.Goroutines, begun)
}

const (
	longestTurn = 20  // requests
	turnsShown  = 200 // number of requests at the end that must repeat it
)

// cycle describes the requests that a client repeats at the end of a run; "" if it repeats none.
func cycle(all []trace.RequestPoint, client string) string {
	var requests []string
	for i := len(all) - 1; i >= 0 && len(requests) < turnsShown+longestTurn; i-- {
		if r := all[i]; r.Client == client {
			path := number.ReplaceAllString(r.Path, "#")
			requests = append(requests, strings.TrimSpace(r.Op+" "+path))
		}
	}
	for k := 1; k <= longestTurn && k < len(requests); k++ {
		if repeats(requests, k) {
			var names []string
			for i := k - 1; i >= 0; i-- { // the last request comes first
				names = append(names, requests[i])
			}
			return fmt.Sprintf(", in a cycle of %d: %s", k, strings.Join(names, ", "))
		}
	}
	return ""
}

// number matches the parts of a path that differ from one turn of a loop to the next.
var number = regexp.MustCompile(`[0-9a-f]{32}|[0-9]+`)

func repeats(list []string, k int) bool {
	for i := k; i < len(list); i++ {
		if list[i] != list[i-k] {
			return false
		}
	}
	return true
}
