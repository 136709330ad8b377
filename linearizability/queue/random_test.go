package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// randomQueue makes valid histories of a queue that loses elements only with a lost reply. It also
// returns the lost elements: those that were removed, and that no poll returned.
func randomQueue(t *rapid.T) (h lin.History, lost []string) {
	h = randomRanked(t, byAgeOnly, func(value string, _ int64) string { return value }, alwaysShown)
	for _, e := range h.Server {
		value := strings.TrimPrefix(e.Path, "/q/")
		if e.Kind == lin.NodeDeleted && !slices.ContainsFunc(h.Ops, func(op lin.Op) bool {
			return op.Kind == ops.Poll && op.Output == value
		}) {
			lost = append(lost, value)
		}
	}
	return h, lost
}

var atMostOnce = Claims{Path: "/q", MayLose: true}

func TestCorrectQueuesAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, lost := randomQueue(t)
		r := judgingtest.Judge(h, &lin.Leftovers{}, atMostOnce)
		slices.Sort(lost)
		found := slices.Sorted(slices.Values(r.Lost))
		if r.Status() != lin.OK || !slices.Equal(found, lost) {
			t.Fatalf("lost %v\n%s\n%s", lost, r, judgingtest.Dump(h))
		}
		exact := judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/q"})
		if v, _ := exact.Verdict(lin.Delivery); (v.Status == lin.Violated) != (len(lost) > 0) {
			t.Fatalf("lost %v, but %s", lost, v)
		}
		if len(h.Ops) > 25 {
			return // without the log, many unknown outcomes cost too much
		}
		h.Server = nil
		if r := judgingtest.Judge(h, nil, atMostOnce); r.Status() == lin.Violated {
			t.Fatalf("without the log:\n%s\n%s", r, judgingtest.Dump(h))
		}
	})
}

func TestBrokenQueuesAreFoundBroken(t *testing.T) {
	mutations := []struct {
		name   string
		mutate func(t *rapid.T, h *lin.History)
	}{
		{"two takes exchanged", func(t *rapid.T, h *lin.History) {
			a, b := twoTakes(t, h)
			a.Output, b.Output = b.Output, a.Output
		}},
		{"one element twice", func(t *rapid.T, h *lin.History) {
			a, b := twoTakes(t, h)
			b.Output = a.Output
		}},
		{"one element out of nothing", func(t *rapid.T, h *lin.History) {
			a, _ := twoTakes(t, h)
			a.Output = "ghost"
		}},
		{"one element dropped", func(t *rapid.T, h *lin.History) {
			a, _ := twoTakes(t, h)
			a.Output, a.Empty = "", true
		}},
		{"one offer forgotten", func(t *rapid.T, h *lin.History) {
			a, _ := twoTakes(t, h)
			h.Server = slices.DeleteFunc(h.Server,
				func(e lin.ServerEvent) bool { return e.Path == "/q/"+a.Output })
		}},
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				h, _ := randomQueue(t)
				m.mutate(t, &h)
				if r := judgingtest.Judge(h, nil, Claims{Path: "/q"}); r.Status() != lin.Violated {
					t.Fatalf("not found:\n%s\n%s", r, judgingtest.Dump(h))
				}
			})
		})
	}
}

// twoTakes picks two successful takes, the first of which returned before the second was called.
func twoTakes(t *rapid.T, h *lin.History) (a, b *lin.Op) {
	var pairs [][2]*lin.Op
	for i := range h.Ops {
		for j := range h.Ops {
			a, b := &h.Ops[i], &h.Ops[j]
			if isTake(a) && isTake(b) && a.OK() && b.OK() && !a.Empty && !b.Empty &&
				a.Return < b.Call {
				pairs = append(pairs, [2]*lin.Op{a, b})
			}
		}
	}
	if len(pairs) == 0 {
		t.Skip("nothing to break")
	}
	pair := rapid.SampledFrom(pairs).Draw(t, "pair")
	return pair[0], pair[1]
}

// randomEvents are operations on a queue that need not make sense.
func randomEvents(t *rapid.T) []judging.Event[model.QueueOp] {
	var list []judging.Event[model.QueueOp]
	for i := range rapid.IntRange(1, 9).Draw(t, "n") {
		call := rapid.Int64Range(0, 12).Draw(t, "call")
		ret := rapid.Int64Range(call, 14).Draw(t, "ret")
		list = append(list, judging.Event[model.QueueOp]{
			Op: model.QueueOp{
				Kind:    model.QueueKind(rapid.IntRange(0, 2).Draw(t, "kind")),
				Item:    rapid.SampledFrom([]string{"x", "y"}).Draw(t, "item"),
				Empty:   rapid.Bool().Draw(t, "empty"),
				Outcome: model.Outcome(rapid.IntRange(0, 1).Draw(t, "outcome")),
			},
			Call: call, Return: ret, Key: judging.Key(rapid.Int64Range(call, ret).Draw(t, "key"),
				0), Lane: fmt.Sprint(i % 3),
		})
	}
	return list
}

// TestDecideAgreesWithPorcupine: neither other times nor the likely order change the answer.
func TestDecideAgreesWithPorcupine(t *testing.T) {
	answers := map[porcupine.CheckResult]int{}
	rapid.Check(t, func(t *rapid.T) {
		events := randomEvents(t)
		want := porcupine.Illegal
		if porcupine.CheckOperations(judging.ToModel(fifoModel, new(int)),
			judging.ToOperations(events)) {
			want = porcupine.Ok
		}
		if got, _ := judging.Decide(fifoModel, events); got != want {
			t.Fatalf("got %s, want %s for %+v", got, want, events)
		}
		answers[want]++
	})
	if answers[porcupine.Ok] == 0 || answers[porcupine.Illegal] == 0 {
		t.Errorf("%v: this tests nothing", answers)
	}
}

func TestServersOrderExplainsCorrectQueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, _ := randomQueue(t)
		events := eventsOf(newTable(h, Claims{Path: "/q", Items: "/q"}))
		if !judging.InOrder(fifoModel, events) {
			t.Fatalf("the order of the server does not explain a correct queue:\n%s", judgingtest.Dump(h))
		}
		if len(events) <= 20 && judging.Search(fifoModel, events) != porcupine.Ok {
			t.Fatalf("porcupine refuses what the fast path accepts:\n%s", judgingtest.Dump(h))
		}
	})
}

// TestTooManyStepsAreUnknown: with all calls concurrent and one element missing, porcupine does not
// come to an end.
func TestTooManyStepsAreUnknown(t *testing.T) {
	var events []judging.Event[model.QueueOp]
	for i := range 40 {
		item := fmt.Sprint(i)
		events = append(events,
			judging.Event[model.QueueOp]{Op: model.QueueOp{Kind: model.Offer, Item: item}, Call: 0,
				Return: 100, Key: judging.Key(1, 0), Lane: "a" + item},
			judging.Event[model.QueueOp]{Op: model.QueueOp{Kind: model.Take,
				Item: fmt.Sprint(i + 1)},
				Call: 0, Return: 100, Key: judging.Key(2, 0), Lane: "b" + item})
	}
	v := judging.Linearizability(fifoModel, events, "FIFO queue")
	if v.Status != lin.Unknown || !strings.Contains(v.Summary, "80 operations in 20000 steps") {
		t.Errorf("got %s", v)
	}
}

// TestAnOkSaysWhatItRestsOn: beyond the bound of the search the likely order decides; what the
// model leaves out is counted.
func TestAnOkSaysWhatItRestsOn(t *testing.T) {
	short := fifoModel
	short.MaxSteps = 1
	events := eventsOf(newTable(played("a offers x; a offers y; b takes x; b takes y"), Claims{}))
	v := judging.Linearizability(short, events, "FIFO queue")
	if v.Status != lin.OK || !strings.HasSuffix(v.Summary,
		"a FIFO queue, in the likely order: porcupine did not decide it in 1 step") {
		t.Errorf("got %s", v)
	}
	for steps, end := range map[string]string{
		"a offers x#5; b take(); a offers y#-1; b deletes x; c takes y; b unknown": "while " +
			"something was there",
		"a offers x#5; b take() deletes x creates x=x failed": "a priority queue, without 1 " +
			"element put back or removed by id",
	} {
		report := judgingtest.Judge(played(steps), nil, Priority{Path: "/q", MayOvertake: true})
		v, _ := report.Verdict(lin.Linearizability)
		if v.Status != lin.OK || !strings.HasSuffix(v.Summary, end) {
			t.Errorf("got %s; want %s", v, end)
		}
	}
}

func TestBadPatternsAreNeverLinearizable(t *testing.T) {
	bad := 0
	rapid.Check(t, func(t *rapid.T) {
		h, _ := randomQueue(t)
		if len(h.Ops) > 14 {
			h.Ops = h.Ops[:14]
		}
		h.Server = nil
		outputs := []string{"v1", "v2", "v3"}
		for i := range h.Ops {
			if op := &h.Ops[i]; op.OK() && op.Kind == ops.Poll {
				op.Output = rapid.SampledFrom(outputs).Draw(t, "output")
				op.Empty = rapid.IntRange(0, 3).Draw(t, "empty") == 0
			}
		}
		c := newTable(h, Claims{Path: "/q", Items: "/q"})
		v, found := badPattern(c)
		if !found {
			return
		}
		bad++
		if judging.Search(fifoModel, eventsOf(c)) == porcupine.Ok {
			t.Fatalf("porcupine has an explanation, but %s\n%s", v, judgingtest.Dump(h))
		}
	})
	if bad == 0 {
		t.Error("no bad pattern was ever made: this tests nothing")
	}
}
