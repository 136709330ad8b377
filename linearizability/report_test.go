package linearizability

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestFirstIsTheWorst(t *testing.T) {
	r := Report{Verdicts: []Verdict{
		{Property: Safety}, {Property: Linearizability, Status: Unknown},
		{Property: Delivery, Status: Violated}, {Property: Orphans, Status: Violated},
	}}
	if r.Status() != Violated || r.First().Property != Delivery {
		t.Errorf("got %v, first %v", r.Status(), r.First())
	}
	if (Report{}).Status() != OK || (Report{}).First().Status != OK {
		t.Error("an empty report is not ok")
	}
}

// TestAnErrorOfSeveralLinesIsOneLine: a verdict names it, and is one line.
func TestAnErrorOfSeveralLinesIsOneLine(t *testing.T) {
	r := NewRecorder(func() int64 { return 1 }, func() time.Duration { return 1 })
	r.Call("a", ops.Lock, "").Failed(errors.Join(errors.New("late"), errors.New("closed")))
	if h := r.History(nil); h.Ops[0].Err != "late; closed" {
		t.Errorf("got %q", h.Ops[0].Err)
	}
}

func TestRecorderKeepsTheFirstReturn(t *testing.T) {
	step := int64(0)
	r := NewRecorder(func() int64 { step++; return step },
		func() time.Duration { return time.Duration(step) })
	lock := r.Call("a", ops.Lock, "")
	r.Call("b", ops.Lock, "")
	lock.OK(Result{Token: 7, Session: 1})
	lock.Failed(errors.New("too late"))
	r.Notice("a", LockLost, 0)
	h := r.History(nil)
	want := []Op{
		{Client: "a", Kind: ops.Lock, Token: 7, Session: 1, Call: 1, CallTime: 1, Return: 3,
			ReturnTime: 3, Outcome: OpOK},
		{Client: "b", Kind: ops.Lock, Call: 2, CallTime: 2, Return: -1},
	}
	if len(h.Ops) != 2 || h.Ops[0] != want[0] || h.Ops[1] != want[1] {
		t.Errorf("got %+v", h.Ops)
	}
	if len(h.Notices) != 1 || h.Notices[0] != (Notice{Client: "a", Step: 5, Time: 5,
		Kind: LockLost}) || h.End != 6 {
		t.Errorf("got %+v, end %d", h.Notices, h.End)
	}
}

func TestRecorderMayBeNil(t *testing.T) {
	var r *Recorder
	c := r.Call("a", ops.Lock, "")
	c.OK(Result{})
	c.Unknown(Result{}, errors.New("x"))
	r.Notice("a", Disconnected, 0)
	if h := r.History(nil); len(h.Ops) != 0 {
		t.Errorf("got %+v", h)
	}
}

func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	step := int64(0)
	r := NewRecorder(func() int64 { mu.Lock(); defer mu.Unlock(); step++; return step },
		func() time.Duration { return 0 })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				r.Call("a", ops.Offer, "x").Failed(errors.New("no"))
				r.History(nil)
			}
		})
	}
	wg.Wait()
	if h := r.History(nil); len(h.Ops) != 160 || slices.ContainsFunc(h.Ops, Op.Pending) {
		t.Errorf("%d operations", len(h.Ops))
	}
}

// TestPagesListTheProperties: the pages have a row for each property, in the order of Properties.
func TestPagesListTheProperties(t *testing.T) {
	for file, row := range map[string]*regexp.Regexp{
		"report.go":          regexp.MustCompile(`(?m)^\t[A-Z]\w+ += "([a-z]+)"$`),
		"doc.go":             regexp.MustCompile(`(?m)^//\t([a-z]+)  +\S.*$`),
		"../docs/hunting.md": regexp.MustCompile(`(?m)^\| ([a-z]+) \| .*\|$`),
	} {
		part := testrun.ReadFile(t, file)
		if _, after, ok := strings.Cut(part, "# The report\n"); ok {
			part, _, _ = strings.Cut(after, "// # ")
		}
		if _, after, ok := strings.Cut(part, "## What is judged\n\n| property | meaning |\n"); ok {
			part, _, _ = strings.Cut(after, "\n## ")
		}
		var listed []string
		for _, m := range row.FindAllStringSubmatch(part, -1) {
			listed = append(listed, m[1])
		}
		if !slices.Equal(listed, Properties()) {
			t.Errorf("%s lists %q, want %q", file, listed, Properties())
		}
	}
}
