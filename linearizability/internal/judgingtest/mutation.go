package judgingtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
)

// Mutation turns a good history into a bad one, if there is something to break. A family has a type
// of its own with these fields.
type Mutation struct {
	Name   string
	Mutate func(t *rapid.T, h *lin.History) bool // whether there was something to break
	Bad    []string                              // one of these properties has to be violated ...
	Share  int                                   // ... in this percentage; 0 means all
}

// CheckValid: no valid history may be found bad.
func CheckValid(t *testing.T, random func(*rapid.T) lin.History,
	judge func(lin.History) lin.Report) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		h := random(t)
		if r := judge(h); r.Status() != lin.OK {
			t.Fatalf("%s\n%s", r, Dump(h))
		}
	})
}

// CheckWithoutLog: no valid history may be found bad when the log of the server is missing.
func CheckWithoutLog(t *testing.T, random func(*rapid.T) lin.History,
	judge func(lin.History) lin.Report) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		h := random(t)
		h.Server = nil
		if r := judge(h); r.Status() == lin.Violated {
			t.Fatalf("%s\n%s", r, Dump(h))
		}
	})
}

// CheckMutations: each kind of bad history must be found bad, in its share of the cases.
func CheckMutations[T ~struct {
	Name   string
	Mutate func(t *rapid.T, h *lin.History) bool
	Bad    []string
	Share  int
}](
	t *testing.T, random func(*rapid.T) lin.History, judge func(lin.History) lin.Report,
	mutations []T,
) {
	t.Helper()
	for _, one := range mutations {
		m := Mutation(one)
		t.Run(m.Name, func(t *testing.T) {
			tried, found := 0, 0
			missed := ""
			rapid.Check(t, func(t *rapid.T) {
				h := random(t).Sorted()
				if !m.Mutate(t, &h) {
					return
				}
				tried++
				if r := judge(h); breaksOneOf(r, m.Bad) {
					found++
				} else {
					missed = fmt.Sprintf("none of %v is violated:\n%s\n%s", m.Bad, r, Dump(h))
				}
			})
			share, least := m.Share, 20
			if share == 0 {
				share = 100
			}
			if testing.Short() {
				least = 1
			}
			p := float64(share) / 100 // of few random histories the share varies
			chance := 3 * math.Sqrt(float64(tried)*p*(1-p))
			t.Logf("found %d of %d", found, tried)
			if tried < least || float64(found)+chance < float64(share*tried)/100 {
				t.Errorf("found %d of %d; want %d of 100, and %d at least. One that was "+
					"missed:\n%s",
					found, tried, share, least, missed)
			}
		})
	}
}

func breaksOneOf(r lin.Report, properties []string) bool {
	return slices.ContainsFunc(properties, func(p string) bool {
		v, _ := r.Verdict(p)
		return v.Status == lin.Violated
	})
}

// One draws one of the items that fit.
func One[T any](t *rapid.T, items []T, fits func(*T) bool) *T {
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

func Returned(kinds ...string) func(*lin.Op) bool {
	return func(op *lin.Op) bool { return op.OK() && slices.Contains(kinds, op.Kind) }
}

// OnCall is a mutation of one call that fits.
func OnCall(
	fits func(*lin.Op) bool, change func(h *lin.History, op *lin.Op),
) func(*rapid.T, *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		op := One(t, h.Ops, fits)
		if op != nil {
			change(h, op)
		}
		return op != nil
	}
}

// OnTwoCalls is a mutation of two calls that fit, of which differ reports whether they differ.
func OnTwoCalls(
	fits func(*lin.Op) bool, differ func(a, b *lin.Op) bool, change func(a, b *lin.Op),
) func(*rapid.T, *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		a := One(t, h.Ops, fits)
		if a == nil {
			return false
		}
		b := One(t, h.Ops, func(op *lin.Op) bool { return fits(op) && differ(a, op) })
		if b != nil {
			change(a, b)
		}
		return b != nil
	}
}

// OnEvent is a mutation of one change at the server that fits.
func OnEvent(
	fits func(h *lin.History, e *lin.ServerEvent) bool,
	change func(h *lin.History, e *lin.ServerEvent),
) func(*rapid.T, *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		e := One(t, h.Server, func(e *lin.ServerEvent) bool { return fits(h, e) })
		if e != nil {
			change(h, e)
		}
		return e != nil
	}
}

// OfKind fits the changes of a kind.
func OfKind(kind lin.ServerEventKind) func(*lin.History, *lin.ServerEvent) bool {
	return func(_ *lin.History, e *lin.ServerEvent) bool { return e.Kind == kind }
}

// byCall fits the changes of successful operations of these kinds.
func byCall(kinds []string) func(*lin.History, *lin.ServerEvent) bool {
	return func(h *lin.History, e *lin.ServerEvent) bool { return Behind(h, *e, kinds) != nil }
}

// Drop removes a change from the log.
func Drop(h *lin.History, e *lin.ServerEvent) {
	i := slices.Index(h.Server, *e)
	h.Server = slices.Delete(h.Server, i, i+1)
}

// SwapOutputs exchanges the results of two operations that returned different ones.
func SwapOutputs(kinds ...string) func(*rapid.T, *lin.History) bool {
	return OnTwoCalls(Returned(kinds...),
		func(a, b *lin.Op) bool { return a.Output != b.Output && a.Kind == b.Kind },
		func(a, b *lin.Op) {
			a.Output, b.Output = b.Output, a.Output
			a.Empty, b.Empty = b.Empty, a.Empty
		})
}

// DropChange removes the change of a successful operation from the log.
func DropChange(kinds ...string) func(*rapid.T, *lin.History) bool {
	return OnEvent(byCall(kinds), Drop)
}

// RepeatChange adds a change that the server applies again; change derives it from the first one.
func RepeatChange(
	change func(h *lin.History, e lin.ServerEvent) lin.ServerEvent, kinds ...string,
) func(*rapid.T, *lin.History) bool {
	return OnEvent(byCall(kinds), func(h *lin.History, e *lin.ServerEvent) {
		again := change(h, *e)
		h.Server = slices.Insert(h.Server, slices.Index(h.Server, *e)+1, again)
	})
}

// SayFailed marks an operation that took effect as failed.
func SayFailed(kinds ...string) func(*rapid.T, *lin.History) bool {
	return OnEvent(byCall(kinds), func(h *lin.History, e *lin.ServerEvent) {
		op := Behind(h, *e, kinds)
		op.Outcome, op.Output, op.Err = lin.OpFailed, "", "nothing was done"
	})
}

// MoveBeyond moves a successful operation behind the end of the history.
func MoveBeyond(kinds ...string) func(*rapid.T, *lin.History) bool {
	return OnCall(Returned(kinds...), func(h *lin.History, op *lin.Op) {
		h.End += 20
		op.Call, op.Return = h.End-10, h.End
	})
}

// NeverReturns makes an operation pending.
func NeverReturns(kinds ...string) func(*rapid.T, *lin.History) bool {
	return OnCall(Returned(kinds...), func(_ *lin.History, op *lin.Op) {
		op.Outcome, op.Return, op.Output = lin.OpPending, -1, ""
	})
}

// Behind returns the successful operation, of these kinds, that was under way at its client's
// change.
func Behind(h *lin.History, e lin.ServerEvent, kinds []string) *lin.Op {
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.OK() && op.Client == e.Client && op.Call <= e.Step && op.Return >= e.Step &&
			slices.Contains(kinds, op.Kind) {
			return op
		}
	}
	return nil
}

// Dump prints a history for a failing test.
func Dump(h lin.History) string {
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
