package value

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

func TestVersionedIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, version := rapid.String().Draw(t, "value"), rapid.Int32().Draw(t, "version")
		if v, n := cutVersion(Versioned(value, version)); v != value || n != version {
			t.Fatalf("got %q %d, want %q %d", v, n, value, version)
		}
	})
	for text, want := range map[string]string{"x": "x", "a@b": "a@b", "": ""} {
		if v, n := cutVersion(text); v != want || n != model.NoVersion {
			t.Errorf("%q: got %q %d", text, v, n)
		}
	}
}

// sets records a complete write that makes a version.
func (f *fixture) sets(client, value string, version int32) {
	op := f.Call(client, ops.Write, value)
	f.puts(client, value, version)
	f.Ret(op, lin.OpOK, lin.Result{Output: Versioned(value, version)})
}

// puts records the server's change for a write.
func (f *fixture) puts(client, value string, version int32) {
	kind := lin.DataChanged
	if version == 0 {
		kind = lin.NodeCreated
	}
	f.Server(lin.ServerEvent{Kind: kind, Client: client, Path: "/v", Data: value})
}

func (f *fixture) quick(client, kind, input, output string) {
	f.Ret(f.Call(client, kind, input), lin.OpOK, lin.Result{Output: output, Empty: output == ""})
}

func TestValues(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/v"
		return opts
	}, []historyTest[Claims]{
		{Name: "written and read", Build: func(f *fixture) {
			f.quick("b", ops.Read, "", "")
			f.sets("a", "x", 0)
			f.quick("b", ops.Read, "", "x@0")
			f.quick("b", ops.Read, "", "x")
		}},
		{Name: "stale read", Bad: lin.Linearizability, Says: "it goes wrong with b: read() -> x@0",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.sets("a", "y", 1)
				f.quick("b", ops.Read, "", "x@0")
			}},
		{Name: "wrong version", Bad: lin.Linearizability, Says: "read() -> x@4",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.Read, "", "x@4")
			}},
		{Name: "one of two wins", Build: func(f *fixture) { race(f, "refused", false) }},
		{Name: "both win", Bad: lin.Linearizability, Says: "cas",
			Build: func(f *fixture) { race(f, "z@2", true) }},
		{Name: "refused, though the version was right", Bad: lin.Linearizability,
			Says: "cas(y@0) -> refused", Build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.CAS, "y@0", ops.Refused)
			}},
		{Name: "told that it was refused, but applied", Bad: lin.Delivery,
			Says: "was told that it was refused, but the server applied it at step 5",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				op := f.Call("b", ops.CAS, "y@0")
				f.puts("b", "y", 1)
				f.Ret(op, lin.OpOK, lin.Result{Output: ops.Refused})
			}},
		{Name: "written twice", Bad: lin.Delivery, Says: "was applied twice: at steps 2 and 3",
			Build: writtenTwice},
		{Name: "written twice, as allowed", Opts: Claims{MayRepeat: true}, Build: writtenTwice},
		{Name: "acknowledged, not applied", Bad: lin.Delivery, Says: "the server never applied it",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.Write, "y", "y@1")
			}},
		{Name: "failed, and applied", Bad: lin.Delivery, Says: "although it said that it was not",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Write, "x")
				f.puts("a", "x", 0)
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{Name: "nobody's value", Bad: lin.Delivery, Says: "b made the value y@1 at step 4",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.puts("b", "y", 1)
			}},
		{Name: "removed and written again", Build: func(f *fixture) {
			f.sets("a", "x", 0)
			op := f.Call("b", ops.Remove, "")
			f.Server(lin.ServerEvent{Kind: lin.NodeDeleted, Client: "b", Path: "/v"})
			f.Ret(op, lin.OpOK, lin.Result{})
			f.quick("a", ops.Remove, "", ops.Refused)
			f.sets("a", "z", 0)
		}},
		{Name: "one of two removes of a client finds nothing", Build: func(f *fixture) {
			f.sets("a", "x", 0)
			first, second := f.Call("b", ops.Remove, ""), f.Call("b", ops.Remove, "")
			f.Server(lin.ServerEvent{Kind: lin.NodeDeleted, Client: "b", Path: "/v"})
			f.Ret(first, lin.OpOK, lin.Result{})
			f.Ret(second, lin.OpOK, lin.Result{Output: ops.Refused})
		}},
		{Name: "two removes find nothing, and one was made", Bad: lin.Delivery,
			Says: "b made the value nothing at step 6, and no write accounts for that",
			Build: func(f *fixture) {
				f.sets("a", "x", 0)
				first, second := f.Call("b", ops.Remove, ""), f.Call("b", ops.Remove, "")
				f.Server(lin.ServerEvent{Kind: lin.NodeDeleted, Client: "b", Path: "/v"})
				f.Ret(first, lin.OpOK, lin.Result{Output: ops.Refused})
				f.Ret(second, lin.OpOK, lin.Result{Output: ops.Refused})
			}},
		{Name: "never returns", Bad: lin.Liveness, Says: "a's write (step 1, pending) never returned",
			Build: func(f *fixture) { f.Call("a", ops.Write, "x") }},
		{Name: "a goroutine is left", Bad: lin.Orphans, Says: "left at rest: a goroutine: loop",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Leaked: []string{"loop"}} }},
	}, judgingtest.AtRest[fixture])
}

// race: two clients saw the same version and write.
func race(f *fixture, second string, applied bool) {
	f.sets("a", "x", 0)
	a, b := f.Call("a", ops.CAS, "y@0"), f.Call("b", ops.CAS, "z@0")
	f.puts("a", "y", 1)
	if applied {
		f.puts("b", "z", 2)
	}
	f.Ret(a, lin.OpOK, lin.Result{Output: "y@1"})
	f.Ret(b, lin.OpOK, lin.Result{Output: second})
}

func writtenTwice(f *fixture) {
	op := f.Call("a", ops.Write, "x")
	f.puts("a", "x", 0)
	f.puts("a", "x", 1)
	f.Ret(op, lin.OpOK, lin.Result{})
}

// randomValue makes valid histories of a shared value; every write has its own value.
func randomValue(t *rapid.T) lin.History {
	var state model.Value
	writes := 0
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	s.Begin = func(string) (kind, input string) {
		kind = rapid.SampledFrom([]string{ops.Read, ops.Write, ops.CAS}).Draw(t, "kind")
		if kind != ops.Read {
			writes++
			input = fmt.Sprintf("v%d", writes)
		}
		if kind == ops.CAS {
			input = Versioned(input,
				max(-1, state.Version-int32(rapid.IntRange(-1, 1).Draw(t, "behind"))))
		}
		return kind, input
	}
	s.Apply = func(client, kind, input string) lin.Result {
		op := writeOp(lin.Op{Kind: kind, Input: input})
		next := state.Step(op)
		if kind == ops.Read {
			s.Next()
			return lin.Result{Output: showOutput(state), Empty: !state.Exists}
		}
		if len(next) == 0 {
			s.Next()
			return lin.Result{Output: ops.Refused}
		}
		state = next[0]
		f.puts(client, state.Data, state.Version)
		return lin.Result{Output: showOutput(state)}
	}
	return s.Play()
}

func showOutput(v model.Value) string {
	if !v.Exists {
		return ""
	}
	return Versioned(v.Data, v.Version)
}

func judgeValueAtV(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/v"})
}

func TestCorrectValuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomValue, judgeValueAtV)
}

func TestCorrectValuesWithoutLog(t *testing.T) {
	judgingtest.CheckWithoutLog(t, randomValue, judgeValueAtV)
}

func TestBrokenValuesAreFoundBroken(t *testing.T) {
	both := []string{lin.Delivery, lin.Linearizability}
	judgingtest.CheckMutations(t, randomValue, judgeValueAtV, []mutation{
		{"results exchanged", judgingtest.SwapOutputs(ops.Read, ops.Write, ops.CAS), both, 90},
		{"a change that never happened", judgingtest.DropChange(ops.Write, ops.CAS), both, 0},
		{"applied twice", judgingtest.RepeatChange(putAgain, ops.Write, ops.CAS), []string{lin.Delivery}, 0},
		{"failed, and applied", judgingtest.SayFailed(ops.Write, ops.CAS), []string{lin.Delivery}, 0},
		{"a write after the end", judgingtest.MoveBeyond(ops.Write), both, 0},
		{"a read after the end", judgingtest.MoveBeyond(ops.Read), []string{lin.Linearizability}, 50},
		{"a hanging call", judgingtest.NeverReturns(ops.Read, ops.Write, ops.CAS), []string{lin.Liveness}, 0},
	})
}

func putAgain(_ *lin.History, e lin.ServerEvent) lin.ServerEvent {
	e.Kind = lin.DataChanged
	return e
}
