package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/linearizability"
)

// told is the evidence of a run, from lines as a driver prints them, with a comma
// after each; times are in milliseconds.
func told(t *testing.T, script string) *evidence {
	t.Helper()
	r := &record{open: map[string]int{}}
	for line := range strings.SplitSeq(script, ", ") {
		if line == "" {
			continue
		}
		words := strings.Split(line, " ")
		ms, err := strconv.Atoi(words[2])
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		words[2] = strconv.Itoa(ms * 1_000_000)
		if err := r.take(words); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
	}
	h := r.history()
	h.End, h.EndTime = 1e12, 1e12
	return &evidence{history: h, rest: &linearizability.Leftovers{}}
}

// node adds a node at rest: an ephemeral of the client, or a persistent one if client is "".
func (e *evidence) node(path, data, client string) *evidence {
	n := linearizability.NodeAtRest{Path: objectPath + path, Data: data, OwnerClient: client}
	if client != "" {
		n.Owner = 1
		e.rest.Nodes = append(e.rest.Nodes, n)
	}
	e.nodes = append(e.nodes, n)
	return e
}

func (e *evidence) holding(value string) *evidence {
	e.value = value
	return e
}

// TestJudgesFindWhatIsWrong: each way to fail has a history that shows it, and a good twin.
func TestJudgesFindWhatIsWrong(t *testing.T) {
	take := func(script string) *evidence {
		return told(t, "call a 1 offer a0, ok a 2, call a 3 offer a1, ok a 4, "+script)
	}
	for _, c := range []struct {
		name     string
		kind     kind
		evidence *evidence
		bad      string // the beginning of the verdict; "" if nothing is violated
	}{
		{"one after the other", holding,
			told(t, "call a 1 lock, ok a 2, call a 5 unlock, ok a 6, call b 3 lock, ok b 7"), ""},
		{"both at once", holding,
			told(t, "call a 1 lock, ok a 2, call b 3 lock, ok b 4, call a 5 unlock, ok a 6"),
			"safety"},
		{"one has lost it", holding,
			told(
				t,
				"call a 1 lock, ok a 2, told a 3 lost, call b 3 lock, ok b 4, call a 5 unlock, "+
					"ok a 6",
			),
			""},
		{"a loss before the lock", holding,
			told(
				t,
				"told a 0 lost, call a 1 lock, ok a 2, call b 3 lock, ok b 4, call a 5 unlock, "+
					"ok a 6",
			),
			"safety"},
		{"an orphan", holding,
			told(t, "call a 1 lock, ok a 2, call a 5 unlock, ok a 6").node("/x", "", "a"),
			"orphans"},
		{"somebody waits", holding, told(t, "call a 1 lock"), "liveness"},

		{"all got", queueing, take("call b 5 take, ok b 6 a0, call b 7 take, ok b 8 a1"), ""},
		{"one lost", queueing,
			take("call b 5 take, unknown b 6 lost, call b 7 take, ok b 8 a1"),
			"delivery: a0 was offered"},
		{"one stuck", queueing,
			take("call b 5 take, ok b 6 a0, call b 7 take, empty b 8").node("/1", "a1", ""),
			"liveness: a1 is in the queue"},
		{"one twice", queueing,
			take("call b 5 take, ok b 6 a0, call b 7 take, ok b 8 a0, call b 9 take, ok b 9 a1"),
			"delivery: a0 was got twice"},
		{"out of order", queueing,
			take("call b 5 take, ok b 6 a1, call b 7 take, ok b 8 a0"), "order"},
		{"an orphan in a queue", queueing,
			take("call b 5 take, ok b 6 a0, call b 7 take, ok b 8 a1").node("/lock", "", "b"),
			"orphans"},

		{"each added once", counting,
			told(t, "call a 1 add 1, ok a 2, call b 1 add 10, ok b 2").holding("11"), ""},
		{"one added twice", counting,
			told(t, "call a 1 add 1, ok a 2, call b 1 add 10, ok b 2").holding("12"),
			"linearizability"},
		{"one not added", counting,
			told(t, "call a 1 add 1, ok a 2, call b 1 add 10, ok b 2").holding("10"),
			"linearizability"},
		{"an unknown add", counting,
			told(t, "call a 1 add 1, unknown a 2 lost, call b 1 add 10, ok b 2").holding("10"), ""},

		{"passed in time", barring,
			told(t, "call a 1 set, ok a 2, call b 3 wait, call a 4 remove, ok a 5, ok b 6"), ""},
		{"passed too early", barring,
			told(t, "call a 1 set, ok a 2, call b 3 wait, ok b 4, call a 5 remove, ok a 6"),
			"linearizability"},

		{"entered together", doubleBarring,
			told(t, "call a 1 enter 2, call b 2 enter 2, ok a 3, ok b 3"), ""},
		{"entered alone", doubleBarring,
			told(t, "call a 1 enter 2, ok a 2, call b 3 enter 2, ok b 4"), "safety"},

		{"one member", membership, told(t, "").node("/a", "", "a"), ""},
		{"no member", membership, told(t, ""), "presence"},
		{"a member twice", membership,
			told(t, "").node("/a", "", "a").node("/a2", "", "a"), "orphans: a is there 2 times"},
		{"one that has left", membership,
			told(t, "").node("/a", "", "a").node("/b", "", "b"), "orphans: b has left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.kind.judge(&recipe{}, c.evidence)
			if (got == "") != (c.bad == "") || !strings.HasPrefix(got, c.bad) {
				t.Errorf("the verdict is %q; expected %q", got, c.bad)
			}
		})
	}
}

// TestAtLeastOnceMayRepeat: one history, judged by the promises of two queues.
func TestAtLeastOnceMayRepeat(t *testing.T) {
	e := told(t, "call a 1 offer a0, ok a 2, call b 3 take, ok b 4 a0, call b 5 take, ok b 6 a0")
	if bad := judgeQueue(&recipe{atLeastOnce: true}, e); bad != "" {
		t.Errorf("%s; expected that an element may come again", bad)
	}
	if bad := judgeQueue(&recipe{}, e); bad == "" {
		t.Error("an element came twice; expected that this is found")
	}
}

// TestOrderIsJudgedWhereItIsPromised: one history, judged by the promises of two queues.
func TestOrderIsJudgedWhereItIsPromised(t *testing.T) {
	e := told(t, "call a 1 offer a0, ok a 2, call a 3 offer a1, ok a 4, "+
		"call b 5 take, ok b 6 a1, call b 7 take, ok b 8 a0")
	if bad := judgeQueue(&recipe{unordered: true}, e); bad != "" {
		t.Errorf("%s; expected that any order is right", bad)
	}
	if bad := judgeQueue(&recipe{}, e); bad == "" {
		t.Error("the second came first; expected that this is found")
	}
}

// TestDriversThatTalkNonsenseAreRefused: the output of a driver is checked.
func TestDriversThatTalkNonsenseAreRefused(t *testing.T) {
	for _, line := range []string{
		"ok a 1", "call a", "call a soon lock", "told a 1 rumours", "call a 1 lock|sings a 2",
		"call a 1 lock|call a 2 lock",
	} {
		r := newRecord()
		var err error
		for words := range strings.SplitSeq(line, "|") {
			err = r.take(strings.Split(words, " "))
		}
		if err == nil {
			t.Errorf("%q was taken; expected an error", line)
		}
	}
}
