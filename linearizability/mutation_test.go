package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mutation turns a good history into a bad one. It reports whether it found something to break.
type mutation struct {
	name   string
	mutate func(t *rapid.T, h *History) bool
	bad    []string // one of these properties has to be violated ...
	share  int      // ... in this percentage; 0 means all
}

// checkValid: no valid history may be found bad.
func checkValid(t *testing.T, random func(*rapid.T) History, judge func(History) Report) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		h := random(t)
		if r := judge(h); r.Status() != OK {
			t.Fatalf("%s\n%s", r, dump(h))
		}
	})
}

// checkWithoutLog: no valid history may be found bad when the log of the server is missing.
func checkWithoutLog(t *testing.T, random func(*rapid.T) History, judge func(History) Report) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		h := random(t)
		h.Server = nil
		if r := judge(h); r.Status() == Violated {
			t.Fatalf("%s\n%s", r, dump(h))
		}
	})
}

// checkMutations: each kind of bad history must be found bad, in its share of the cases.
func checkMutations(
	t *testing.T, random func(*rapid.T) History, judge func(History) Report, mutations []mutation,
) {
	t.Helper()
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			tried, found := 0, 0
			missed := ""
			rapid.Check(t, func(t *rapid.T) {
				h := random(t).sorted()
				if !m.mutate(t, &h) {
					return
				}
				tried++
				if r := judge(h); breaksOneOf(r, m.bad) {
					found++
				} else {
					missed = fmt.Sprintf("none of %v is violated:\n%s\n%s", m.bad, r, dump(h))
				}
			})
			share := m.share
			if share == 0 {
				share = 100
			}
			t.Logf("found %d of %d", found, tried)
			if tried < 20 || found*100 < share*tried {
				t.Errorf("found %d of %d; want %d of 100, and 20 at least. One that was "+
					"missed:\n%s",
					found, tried, share, missed)
			}
		})
	}
}

func breaksOneOf(r Report, properties []string) bool {
	return slices.ContainsFunc(properties, func(p string) bool {
		v, _ := r.Verdict(p)
		return v.Status == Violated
	})
}

// one draws one of the items that fit.
func one[T any](t *rapid.T, items []T, fits func(*T) bool) *T {
	var list []*T
	for i := range items {
		if fits(&items[i]) {
			list = append(list, &items[i])
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(t, "one")
}

func returned(kinds ...string) func(*Op) bool {
	return func(op *Op) bool { return op.ok() && slices.Contains(kinds, op.Kind) }
}

// swapOutputs exchanges the results of two operations that returned different ones.
func swapOutputs(kinds ...string) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		fits := returned(kinds...)
		a := one(t, h.Ops, fits)
		if a == nil {
			return false
		}
		b := one(t, h.Ops,
			func(op *Op) bool { return fits(op) && op.Output != a.Output && op.Kind == a.Kind })
		if b == nil {
			return false
		}
		a.Output, b.Output = b.Output, a.Output
		a.Empty, b.Empty = b.Empty, a.Empty
		return true
	}
}

// dropChange removes the change of a successful operation from the log.
func dropChange(kinds ...string) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		e := one(t, h.Server, func(e *ServerEvent) bool { return Behind(h, *e, kinds) != nil })
		if e != nil {
			i := slices.Index(h.Server, *e)
			h.Server = slices.Delete(h.Server, i, i+1)
		}
		return e != nil
	}
}

// repeatChange adds a change that the server applies again; change derives it from the first one.
func repeatChange(
	change func(h *History, e ServerEvent) ServerEvent, kinds ...string,
) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		e := one(t, h.Server, func(e *ServerEvent) bool { return Behind(h, *e, kinds) != nil })
		if e == nil {
			return false
		}
		again := change(h, *e)
		h.Server = slices.Insert(h.Server, slices.Index(h.Server, *e)+1, again)
		return true
	}
}

// sayFailed marks an operation that took effect as failed.
func sayFailed(kinds ...string) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		e := one(t, h.Server, func(e *ServerEvent) bool { return Behind(h, *e, kinds) != nil })
		if e == nil {
			return false
		}
		op := Behind(h, *e, kinds)
		op.Outcome, op.Output, op.Err = OpFailed, "", "nothing was done"
		return true
	}
}

// moveBeyond moves a successful operation behind the end of the history.
func moveBeyond(kinds ...string) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		op := one(t, h.Ops, returned(kinds...))
		if op == nil {
			return false
		}
		h.End += 20
		op.Call, op.Return = h.End-10, h.End
		return true
	}
}

// neverReturns makes an operation pending.
func neverReturns(kinds ...string) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		op := one(t, h.Ops, returned(kinds...))
		if op != nil {
			op.Outcome, op.Return, op.Output = OpPending, -1, ""
		}
		return op != nil
	}
}

// Behind returns the successful operation, of these kinds, that was under way at its client's
// change.
func Behind(h *History, e ServerEvent, kinds []string) *Op {
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.ok() && op.Client == e.Client && op.Call <= e.Step && op.Return >= e.Step &&
			slices.Contains(kinds, op.Kind) {
			return op
		}
	}
	return nil
}

// dump prints a history for a failing test.
func dump(h History) string {
	var b strings.Builder
	for _, op := range h.Ops {
		fmt.Fprintf(&b, "%4d..%-4d %s %s(%s) -> %q empty=%t token=%d session=%d %v\n", op.Call,
			op.Return, op.Client, op.Kind, op.Input, op.Output, op.Empty, op.Token,
			op.Session, op.Outcome)
	}
	for _, e := range h.Server {
		fmt.Fprintf(&b, "%4d server %v %s %q session=%d owner=%d client=%s\n", e.Step, e.Kind,
			e.Path, e.Data, e.Session, e.Owner, e.Client)
	}
	for _, n := range h.Notices {
		fmt.Fprintf(&b, "%4d %s is told: %v\n", n.Step, n.Client, n.Kind)
	}
	return b.String()
}
