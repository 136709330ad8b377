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

// puts records the server's change for a write.
func (f *fixture) puts(client, value string, version int32) {
	kind := lin.DataChanged
	if version == 0 {
		kind = lin.NodeCreated
	}
	f.Server(lin.ServerEvent{Kind: kind, Client: client, Path: "/v", Data: value})
}

func TestValues(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/v"
		return opts
	}, []historyTest[Claims]{
		{Name: "written and read",
			Steps: "b read() empty; a write(x) creates /v=x -> x@0; b read() -> x@0; " +
				"b read() -> x"},
		{Name: "stale read", Bad: lin.Linearizability, Says: "b's read() -> x@0 (steps",
			Steps: "a write(x) creates /v=x -> x@0; a write(y) stores /v=y -> y@1; " +
				"b read() -> x@0"},
		{Name: "stale read of a value that does not claim it", Bad: lin.Linearizability,
			Says:  "(the claim StaleReads would allow it)",
			Steps: "a write(x) creates /v=x -> x@0; b read() empty"},
		{Name: "empty, taken for nothing", Bad: lin.Linearizability, Says: `the shared value was ""@0`,
			Steps: "a write() creates /v= -> @0; b read() empty"},
		{Name: "stale read and stale refusal, as claimed", Opts: Claims{StaleReads: true},
			Steps: "a write(x) creates /v=x -> x@0; a write(y) stores /v=y -> y@1; " +
				"b read() -> x@0; b cas(z@1) -> refused; b read() -> y@1"},
		{Name: "refused, though the version was right since the client's last read",
			Opts: Claims{StaleReads: true}, Bad: lin.Linearizability,
			Says:  "b's cas(z@0) -> refused (steps 6 to 7) was so at no time since b's read",
			Steps: "a write(x) creates /v=x -> x@0; b read() -> x@0; b cas(z@0) -> refused"},
		{Name: "wrong version", Bad: lin.Linearizability, Says: "read() -> x@4",
			Steps: "a write(x) creates /v=x -> x@0; b read() -> x@4"},
		{Name: "one of two wins",
			Steps: "a write(x) creates /v=x -> x@0; a cas(y@0); b cas(z@0); a stores /v=y; " +
				"a -> y@1; b -> refused"},
		{Name: "both win", Bad: lin.Linearizability, Says: "cas",
			Steps: "a write(x) creates /v=x -> x@0; a cas(y@0); b cas(z@0); a stores /v=y; " +
				"b stores /v=z; a -> y@1; b -> z@2"},
		{Name: "refused, though the version was right", Bad: lin.Linearizability,
			Says:  "cas(y@0) -> refused",
			Steps: "a write(x) creates /v=x -> x@0; b cas(y@0) -> refused"},
		{Name: "told that it was refused, but applied", Bad: lin.Delivery,
			Says:  "was told that it was refused, but the server applied it at step 5",
			Steps: "a write(x) creates /v=x -> x@0; b cas(y@0) stores /v=y -> refused"},
		{Name: "refused when it tried again after a lost reply", Bad: lin.Delivery,
			Says: "was told that it was refused, but the server applied it at step 5: its reply was " +
				"lost at step 6, and it tried again with the old version",
			Steps: "a write(x) creates /v=x -> x@0; b cas(y@0) stores /v=y; b told disconnected; " +
				"b -> refused"},
		{Name: "written twice", Bad: lin.Delivery, Says: "was applied twice: at steps 2 and 3",
			Steps: "a write(x) creates /v=x stores /v=x ok"},
		{Name: "written twice, as allowed", Opts: Claims{MayRepeat: true},
			Steps: "a write(x) creates /v=x stores /v=x ok"},
		{Name: "acknowledged, not applied", Bad: lin.Delivery, Says: "the server never applied it",
			Steps: "a write(x) creates /v=x -> x@0; b write(y) -> y@1"},
		{Name: "failed, and applied", Bad: lin.Delivery, Says: "although it said that it was not",
			Steps: "a write(x) creates /v=x failed"},
		{Name: "nobody's value", Bad: lin.Delivery, Says: "b made the value y@1 at step 4",
			Steps: "a write(x) creates /v=x -> x@0; b stores /v=y"},
		{Name: "removed and written again",
			Steps: "a write(x) creates /v=x -> x@0; b remove() deletes /v ok; " +
				"a remove() -> refused; a write(z) creates /v=z -> z@0"},
		{Name: "one of two removes of a client finds nothing",
			Steps: "a write(x) creates /v=x -> x@0; b remove(); b remove(); b deletes /v; " +
				"b -> refused; b ok"},
		{Name: "two removes find nothing, and one was made", Bad: lin.Delivery,
			Says: "b made the value nothing at step 6, during b's remove (steps 4 to 8), and no write accounts for that",
			Steps: "a write(x) creates /v=x -> x@0; b remove(); b remove(); b deletes /v; " +
				"b -> refused; b -> refused"},
		{Name: "never returns", Bad: lin.Liveness,
			Says: "a's write (step 1, pending) never returned", Steps: "a write(x)"},
		{Name: "a goroutine is left", Bad: lin.Orphans, Says: "left at rest: a goroutine: loop",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Leaked: []string{"loop"}} }},
	}, judgingtest.AtRest[fixture])
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
