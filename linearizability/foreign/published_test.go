package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/queue"
)

// published are histories in the shapes of those that the projects knossos (data/good and data/bad)
// and porcupine (test_data) publish, written anew and made small, with the verdicts that they have
// there. "0 write 1" is a call of process 0, "0 ok 1" its return with a value.
var published = []struct {
	kind, events string
	bad          bool
}{
	// Registers.
	{"register", "0 write 1; 0 ok; 1 read; 1 ok 1", false},
	{"register", "0 read; 0 ok nil; 0 write 3; 0 ok; 0 read; 0 ok 3", false},
	{"register", "0 write 1; 1 write 2; 0 ok; 1 ok; 2 read; 2 ok 1", false},
	{"register", "0 write 1; 1 write 2; 0 ok; 1 ok; 2 read; 2 ok 2", false},
	{"register", "0 write 1; 1 read; 1 ok 1; 0 ok", false},
	{"register", "0 write 1; 0 ok; 0 write 2; 1 read; 1 ok 1; 0 ok; 1 read; 1 ok 2", false},
	{"register", "0 write 1; 0 ok; 1 write 2; 1 info; 2 read; 2 ok 1; 2 read; 2 ok 2", false},
	{"register", "0 write 1; 0 ok; 1 write 2; 1 info; 2 read; 2 ok 1; 2 read; 2 ok 1", false},
	{"register", "0 write 1; 0 ok; 1 write 2; 1 fail; 2 read; 2 ok 1", false},
	{"register", "0 write 1; 0 ok; 1 write 2; 2 read; 2 ok 2", false},
	{"register", "0 write 1; 0 ok; 0 write 2; 0 ok; 1 read; 1 ok 1", true},
	{"register", "0 write 1; 0 ok; 1 read; 1 ok 7", true},
	{"register", "0 write 1; 0 ok; 0 write 2; 1 read; 1 ok 2; 2 read; 2 ok 1; 0 ok", true},
	{"register", "0 write 1; 0 ok; 1 write 2; 1 fail; 2 read; 2 ok 2", true},
	{"register", "0 write 1; 0 ok; 1 write 2; 1 info; 2 read; 2 ok 2; 2 read; 2 ok 1", true},
	{"register", "0 write 1; 0 ok; 1 read; 1 ok nil", true},
	{"register", "0 write 1; 1 write 2; 2 read; 2 ok 1; 2 read; 2 ok 2; 3 read; 3 ok 1; 0 ok; 1 ok",
		true},
	// Registers with cas.
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 ok; 2 read; 2 ok 1", false},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 2 cas [0 2]; 1 ok; 2 fail; 0 read; 0 ok 1", false},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 2 cas [1 2]; 1 ok; 2 ok; 0 read; 0 ok 2", false},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 info; 2 read; 2 ok 1", false},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 info; 2 read; 2 ok 0", false},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 info; 2 cas [1 2]; 2 ok; 0 read; 0 ok 2", false},
	{"register", "0 write 3; 0 ok; 1 cas [3 3]; 1 ok; 0 read; 0 ok 3", false},
	{"register", "0 write 0; 0 ok; 1 cas [1 2]; 1 ok", true},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 2 cas [0 2]; 1 ok; 2 ok", true},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 ok; 2 read; 2 ok 0", true},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 fail; 2 read; 2 ok 1", true},
	{"register", "0 write 0; 0 ok; 1 write 3; 1 info; 2 cas [3 4]; 2 ok; 0 read; 0 ok 3", true},
	{"register", "0 write 0; 0 ok; 1 cas [0 1]; 1 info; 2 read; 2 ok 1; 0 write 0; 0 ok; 2 read; " +
		"2 ok 1", true},
	// Queues.
	{"queue", "0 enqueue 1; 0 ok; 0 enqueue 2; 0 ok; 1 dequeue; 1 ok 1; 1 dequeue; 1 ok 2", false},
	{"queue", "0 enqueue 1; 1 enqueue 2; 0 ok; 1 ok; 2 dequeue; 2 ok 2; 2 dequeue; 2 ok 1", false},
	{"queue", "0 enqueue 1; 0 info; 1 dequeue; 1 ok 1", false},
	{"queue", "0 enqueue 1; 0 info; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2", false},
	{"queue", "0 enqueue 1; 0 ok; 0 enqueue 2; 0 ok; 1 dequeue; 1 info; 2 dequeue; 2 ok 2", false},
	{"queue", "1 dequeue; 0 enqueue 1; 0 ok; 1 ok 1", false},
	{"queue", "0 enqueue 1; 0 ok; 0 enqueue 2; 0 ok; 1 drain; 1 ok [1 2]", false},
	{"queue", "0 enqueue 1; 0 ok; 0 enqueue 2; 0 ok; 1 dequeue; 1 ok 2; 1 dequeue; 1 ok 1", true},
	{"queue", "0 enqueue 1; 0 ok; 1 dequeue; 1 ok 1; 2 dequeue; 2 ok 1", true},
	{"queue", "0 enqueue 1; 0 ok; 1 dequeue; 1 ok 9", true},
	{"queue", "0 enqueue 1; 0 fail; 1 dequeue; 1 ok 1", true},
	{"queue", "1 dequeue; 1 ok 1; 0 enqueue 1; 0 ok", true},
	{"queue", "0 enqueue 1; 0 ok; 0 enqueue 2; 0 ok; 1 drain; 1 ok [2]", true},
	// Locks.
	{"lock", "0 acquire; 0 ok; 0 release; 0 ok; 1 acquire; 1 ok", false},
	{"lock", "0 acquire; 0 ok; 1 acquire; 0 release; 1 ok; 0 ok", false},
	{"lock", "0 acquire; 0 ok; 1 acquire; 1 fail; 0 release; 0 ok; 1 acquire; 1 ok", false},
	{"lock", "0 acquire; 0 info; 1 acquire; 1 ok", false},
	{"lock", "0 acquire; 0 ok; 0 release; 0 info; 1 acquire; 1 ok", false},
	{"lock", "0 acquire; 0 ok; 1 acquire; 1 ok", true},
	{"lock", "0 acquire; 0 ok; 0 release; 0 fail; 1 acquire; 1 ok", true},
	{"lock", "0 acquire; 0 ok; 1 acquire; 1 ok; 0 release; 0 ok", true},
	{"lock", "0 acquire; 0 ok; 1 acquire; 1 info; 2 acquire; 2 ok", true},
	{"lock", "0 acquire; 0 ok; 0 release; 0 ok; 1 acquire; 1 ok; 2 acquire; 2 ok", true},
}

// TestPublishedVerdicts: each history has its verdict in EDN and in JSON.
func TestPublishedVerdicts(t *testing.T) {
	for _, p := range published {
		for name, text := range map[string]string{"EDN": ednText(p.events), "JSON": jsonText(p.events)} {
			h, err := readers[name](text, p.kind)
			check.OK(t, err)
			if r := lin.Judge(h, nil, claims[p.kind]); (r.Status() == lin.Violated) != p.bad {
				t.Errorf("%s %s, bad %v: %s: got\n%s", p.kind, name, p.bad, p.events, r)
			}
		}
	}
}

var readers = map[string]reader{"EDN": jepsen, "JSON": porcupine}

// TestWrongJudgesMissPublishedVerdicts: each fault of a judge shows in some of the verdicts.
func TestWrongJudgesMissPublishedVerdicts(t *testing.T) {
	become := func(from, to lin.Outcome) func(*lin.Op, int64) {
		return func(op *lin.Op, _ int64) {
			if op.Outcome == from {
				op.Outcome = to
			}
		}
	}
	for name, mutate := range map[string]func(op *lin.Op, end int64){
		"failed calls have effects":         become(lin.OpFailed, lin.OpUnknown),
		"calls in doubt have no effect":     become(lin.OpUnknown, lin.OpFailed),
		"calls in doubt have succeeded":     become(lin.OpUnknown, lin.OpOK),
		"each call lasts until the end":     func(op *lin.Op, end int64) { op.Return = end },
		"each call begins at the beginning": func(op *lin.Op, _ int64) { op.Call = 0 },
		"fifo is not judged":                nil,
	} {
		missed := 0
		for _, p := range published {
			h, err := jepsen(ednText(p.events), p.kind)
			check.OK(t, err)
			judge := claims[p.kind]
			switch {
			case mutate != nil:
				for i := range h.Ops {
					mutate(&h.Ops[i], h.End)
				}
			case p.kind == "queue":
				judge = queue.Claims{Unordered: true}
			}
			if (lin.Judge(h, nil, judge).Status() == lin.Violated) != p.bad {
				missed++
			}
		}
		if missed == 0 {
			t.Errorf("%s: every verdict is as published", name)
		}
	}
}

// parts are the words of an event: the process, the call or "ok", "info" or "fail", and its value.
func parts(event string) (process, what, val string) {
	words := strings.SplitN(event, " ", 3)
	return words[0], words[1], strings.Join(words[2:], " ")
}

func isReturn(what string) bool { return slices.Contains([]string{"ok", "info", "fail"}, what) }

// ednText is a history as Jepsen writes it: a return repeats the value of a write.
func ednText(events string) string {
	var text strings.Builder
	under := map[string][2]string{} // the call of each process, and its value
	for _, event := range strings.Split(events, "; ") {
		process, what, val := parts(event)
		kind := what
		if isReturn(what) {
			if val == "" {
				val = under[process][1]
			}
			what = under[process][0]
		} else {
			kind, under[process] = "invoke", [2]string{what, val}
		}
		if val == "" {
			val = "nil"
		}
		fmt.Fprintf(&text, "{:process %s, :type :%s, :f :%s, :value %s}\n", process, kind, what, val)
	}
	return text.String()
}

// jsonText is a history in JSON. A call that has not returned is in doubt until the end.
func jsonText(events string) string {
	var list []map[string]any
	under := map[string]map[string]any{}
	steps := strings.Split(events, "; ")
	for i, event := range steps {
		process, what, val := parts(event)
		if !isReturn(what) {
			o := map[string]any{"ClientId": json.RawMessage(process), "Call": i, "Return": len(steps),
				"Input":  map[string]any{"op": what, "value": jsonOf(val)},
				"Output": map[string]bool{"unknown": true}}
			list, under[process] = append(list, o), o
			continue
		}
		o := under[process]
		o["Return"] = i
		switch what {
		case "ok":
			o["Output"] = jsonOf(val)
		case "fail":
			o["Output"] = map[string]bool{"failed": true}
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// jsonOf turns a value of EDN into JSON.
func jsonOf(val string) json.RawMessage {
	if val == "" || val == "nil" {
		return json.RawMessage("null")
	}
	return json.RawMessage(strings.ReplaceAll(val, " ", ","))
}
