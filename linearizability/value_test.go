package linearizability

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

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
	op := f.call(client, ops.Write, value)
	f.puts(client, value, version)
	f.ret(op, OpOK, Result{Output: Versioned(value, version)})
}

// puts records the server's change for a write.
func (f *fixture) puts(client, value string, version int32) {
	kind := DataChanged
	if version == 0 {
		kind = NodeCreated
	}
	f.server(ServerEvent{Kind: kind, Client: client, Path: "/v", Data: value})
}

func (f *fixture) quick(client, kind, input, output string) {
	f.ret(f.call(client, kind, input), OpOK, Result{Output: output, Empty: output == ""})
}

func TestValues(t *testing.T) {
	checkHistories(t, func(opts Value) Claims {
		opts.Path = "/v"
		return opts
	}, []historyTest[Value]{
		{name: "written and read", build: func(f *fixture) {
			f.quick("b", ops.Read, "", "")
			f.sets("a", "x", 0)
			f.quick("b", ops.Read, "", "x@0")
			f.quick("b", ops.Read, "", "x")
		}},
		{name: "stale read", bad: Linearizability, says: "it goes wrong with b: read() -> x@0",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.sets("a", "y", 1)
				f.quick("b", ops.Read, "", "x@0")
			}},
		{name: "wrong version", bad: Linearizability, says: "read() -> x@4",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.Read, "", "x@4")
			}},
		{name: "one of two wins", build: func(f *fixture) { race(f, "refused", false) }},
		{name: "both win", bad: Linearizability, says: "cas",
			build: func(f *fixture) { race(f, "z@2", true) }},
		{name: "refused, though the version was right", bad: Linearizability,
			says: "cas(y@0) -> refused", build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.CAS, "y@0", ops.Refused)
			}},
		{name: "told that it was refused, but applied", bad: Delivery,
			says: "was told that it was refused, but the server applied it at step 5",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				op := f.call("b", ops.CAS, "y@0")
				f.puts("b", "y", 1)
				f.ret(op, OpOK, Result{Output: ops.Refused})
			}},
		{name: "written twice", bad: Delivery, says: "was applied twice: at steps 2 and 3",
			build: writtenTwice},
		{name: "written twice, as allowed", opts: Value{MayRepeat: true}, build: writtenTwice},
		{name: "acknowledged, not applied", bad: Delivery, says: "the server never applied it",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.quick("b", ops.Write, "y", "y@1")
			}},
		{name: "failed, and applied", bad: Delivery, says: "although it said that it was not",
			build: func(f *fixture) {
				op := f.call("a", ops.Write, "x")
				f.puts("a", "x", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "nobody's value", bad: Delivery, says: "b made the value y@1 at step 4",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				f.puts("b", "y", 1)
			}},
		{name: "removed and written again", build: func(f *fixture) {
			f.sets("a", "x", 0)
			op := f.call("b", ops.Remove, "")
			f.server(ServerEvent{Kind: NodeDeleted, Client: "b", Path: "/v"})
			f.ret(op, OpOK, Result{})
			f.quick("a", ops.Remove, "", ops.Refused)
			f.sets("a", "z", 0)
		}},
		{name: "one of two removes of a client finds nothing", build: func(f *fixture) {
			f.sets("a", "x", 0)
			first, second := f.call("b", ops.Remove, ""), f.call("b", ops.Remove, "")
			f.server(ServerEvent{Kind: NodeDeleted, Client: "b", Path: "/v"})
			f.ret(first, OpOK, Result{})
			f.ret(second, OpOK, Result{Output: ops.Refused})
		}},
		{name: "two removes find nothing, and one was made", bad: Delivery,
			says: "b made the value nothing at step 6, and no write accounts for that",
			build: func(f *fixture) {
				f.sets("a", "x", 0)
				first, second := f.call("b", ops.Remove, ""), f.call("b", ops.Remove, "")
				f.server(ServerEvent{Kind: NodeDeleted, Client: "b", Path: "/v"})
				f.ret(first, OpOK, Result{Output: ops.Refused})
				f.ret(second, OpOK, Result{Output: ops.Refused})
			}},
		{name: "never returns", bad: Liveness, says: "a's write (step 1, pending) never returned",
			build: func(f *fixture) { f.call("a", ops.Write, "x") }},
	}, atRest)
}

// race: two clients saw the same version and write.
func race(f *fixture, second string, applied bool) {
	f.sets("a", "x", 0)
	a, b := f.call("a", ops.CAS, "y@0"), f.call("b", ops.CAS, "z@0")
	f.puts("a", "y", 1)
	if applied {
		f.puts("b", "z", 2)
	}
	f.ret(a, OpOK, Result{Output: "y@1"})
	f.ret(b, OpOK, Result{Output: second})
}

func writtenTwice(f *fixture) {
	op := f.call("a", ops.Write, "x")
	f.puts("a", "x", 0)
	f.puts("a", "x", 1)
	f.ret(op, OpOK, Result{})
}

// randomValue makes valid histories of a shared value; every write has its own value.
func randomValue(t *rapid.T) History {
	var state model.Value
	writes := 0
	s := &simulator{t: t}
	s.begin = func(string) (kind, input string) {
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
	s.apply = func(client, kind, input string) Result {
		op := writeOp(Op{Kind: kind, Input: input})
		next := state.Step(op)
		if kind == ops.Read {
			s.next()
			return Result{Output: showOutput(state), Empty: !state.Exists}
		}
		if len(next) == 0 {
			s.next()
			return Result{Output: ops.Refused}
		}
		state = next[0]
		s.puts(client, state.Data, state.Version)
		return Result{Output: showOutput(state)}
	}
	return s.play()
}

func showOutput(v model.Value) string {
	if !v.Exists {
		return ""
	}
	return Versioned(v.Data, v.Version)
}

func judgeValueAtV(h History) Report { return Judge(h, &Leftovers{}, Value{Path: "/v"}) }

func TestCorrectValuesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomValue, judgeValueAtV)
}

func TestCorrectValuesWithoutLog(t *testing.T) {
	checkWithoutLog(t, randomValue, judgeValueAtV)
}

func TestBrokenValuesAreFoundBroken(t *testing.T) {
	both := []string{Delivery, Linearizability}
	checkMutations(t, randomValue, judgeValueAtV, []mutation{
		{"results exchanged", swapOutputs(ops.Read, ops.Write, ops.CAS), both, 90},
		{"a change that never happened", dropChange(ops.Write, ops.CAS), both, 0},
		{"applied twice", repeatChange(putAgain, ops.Write, ops.CAS), []string{Delivery}, 0},
		{"failed, and applied", sayFailed(ops.Write, ops.CAS), []string{Delivery}, 0},
		{"a write after the end", moveBeyond(ops.Write), both, 0},
		{"a read after the end", moveBeyond(ops.Read), []string{Linearizability}, 50},
		{"a hanging call", neverReturns(ops.Read, ops.Write, ops.CAS), []string{Liveness}, 0},
	})
}

func putAgain(_ *History, e ServerEvent) ServerEvent {
	e.Kind = DataChanged
	return e
}
