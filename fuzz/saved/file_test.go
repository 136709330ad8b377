package saved_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"pgregory.net/rapid"
)

// anyWorkload finds a workload of any name, as a test of a user does.
func anyWorkload(name, impl string) (scenario.Workload, error) {
	return scenario.Workload{Name: name, Impl: impl}, nil
}

// TestScenarioFilesReadBack: a file that was written is read as the same scenario.
func TestScenarioFilesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawFile(t)
		data := want.Text()
		got, err := saved.Parse("f.yaml", data, anyWorkload)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if a, b := fileText(got), fileText(want); a != b {
			t.Fatalf("got %s\nwant %s\n%s", a, b, data)
		}
	})
}

func drawFile(t *rapid.T) saved.File {
	// Implementations are called after tests: TestLock/with_40_faults#01.
	impl := rapid.StringMatching(
		`[A-Za-z0-9]([A-Za-z0-9_./#:=\[\]{}'"-]{0,20}[A-Za-z0-9])?`,
	).Draw(t, "impl")
	f := saved.File{Scenario: scenario.Scenario{
		Workload: scenario.Workload{
			Name: rapid.SampledFrom([]string{"lock", "queue"}).Draw(t, "workload"), Impl: impl,
		},
		Script: scenario.Script{Clients: rapid.IntRange(1, 26).Draw(t, "clients"),
			Rounds:   rapid.IntRange(1, 1000).Draw(t, "rounds"),
			Careless: rapid.Bool().Draw(t, "careless")},
		Seed: rapid.Uint64().Draw(t, "seed"),
	}}
	for range rapid.IntRange(0, 4).Draw(t, "faults") {
		fault := drawFault(t, f.Scenario.Script.Clients)
		if !slices.Contains(f.Scenario.Plan, fault) {
			f.Scenario.Plan = append(f.Scenario.Plan, fault)
		}
	}
	if rapid.Bool().Draw(t, "violated") {
		f.Expect = linearizability.Violated
		f.Property = rapid.SampledFrom(
			[]string{"", "liveness", "orphans", "panic"},
		).Draw(t, "property")
	}
	if rapid.Bool().Draw(t, "of a test") {
		f.Test = saved.Test{
			Name: rapid.StringMatching(`Test[A-Za-z0-9_/#'":{} \pL]*[a-z]`).Draw(t, "test"),
			Package: rapid.SampledFrom([]string{"", "a.org/b-c/d_test", "main", "1/2.v3"}).Draw(t,
				"package"),
			Tags: rapid.SampledFrom([]string{"", "x", "x,go1.26"}).Draw(t, "tags"),
		}
	}
	f.Trace = rapid.StringMatching(`([0-9a-f]{64}|[0-9]{64}|[0-9]{40}e[0-9]{23}|)`).Draw(t, "trace")
	return f
}

func drawFault(t *rapid.T, clients int) fault.Fault {
	info := rapid.SampledFrom(fault.Kinds()).Draw(t, "kind")
	f := fault.Fault{
		Kind: info.Kind, Client: string(rune('a' + rapid.IntRange(0, clients-1).Draw(t, "client"))),
	}
	if rapid.Bool().Draw(t, "respawned") {
		f.Client += "'"
	}
	if info.Lasts {
		f.For = time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "for"))
	}
	if info.Kind.TakesCode() {
		f.Code = rapid.SampledFrom([]string{"NoAuth", "OperationTimeout"}).Draw(t, "code")
	}
	f.Op = rapid.SampledFrom([]string{"", "create", "getChildren2"}).Draw(t, "op")
	f.Path = rapid.SampledFrom([]string{"", "/lock/**", "/a: b/*", `/"x'/[y]`}).Draw(t, "path")
	f.Request = rapid.IntRange(1, 1_000_000).Draw(t, "request")
	if f.Validate() != nil { // not every kind takes every selector
		f.Op, f.Path = "", ""
	}
	if strings.Contains(f.Path, " ") {
		f.Path = ""
	}
	return f
}

func fileText(f saved.File) string {
	s := f.Scenario
	return fmt.Sprintf("%q %q %v %d %v %v %q %q %q", s.Workload.Name, s.Workload.Impl, s.Script,
		s.Seed, s.Plan, f.Expect, f.Property, f.Trace, f.Test)
}

// good is a scenario file, f.yaml. The bad files are changes of it.
const good = `workload: lock
implementation: zk.Lock
clients: 2
rounds: 1
seed: 1
plan:
  - cut client=a request=1
expect: violated
property: liveness
`

var badFiles = []struct{ about, old, new, want string }{
	{"empty", good, "", " is empty; expected a scenario"},
	{"comment only", good, "# nothing\n", " is empty; expected a scenario"},
	{"text", good, "hello\n", "1:1: the scenario: found text; expected keys and values"},
	{"list", good, "- a\n", "1:1: the scenario: found a list; expected keys and values"},
	{"two documents", good, good + "---\n" + good, "10:1: found a second document; expected one"},
	{"syntax", good, "workload: [lock\n",
		"1:15: did not find expected ',' or ']', while parsing a flow sequence"},
	{"trace", good,
		"    1     0.001s  a    calls lock\n    2     0.003s  a    -> connect: session S1\n",
		"2:34: mapping values are not allowed in this context; expected a scenario, with the " +
			"key workload"},
	{"unknown key", "seed: 1", "sede: 1",
		`5:1: unknown field "sede"; expected one of workload, implementation, clients, ` +
			`rounds, goroutines, servers, careless, seed, schedule, plan, expect, property, ` +
			`trace, test, package, tags`},
	{"key twice", "seed: 1", "seed: 1\nseed: 2", `6:1: key "seed" is given twice, first in line 5`},
	{"no workload", "workload: lock\n", "", " workload is missing"},
	{"no clients", "clients: 2\n", "", " clients is missing"},
	{"no rounds", "rounds: 1\n", "", " rounds is missing"},
	{"no expectation", "expect: violated\n", "", " expect is missing"},
	{"unknown workload", ": lock", ": bolt", `1:11: unknown workload "bolt"; expected one of ` + kinds +
		own},
	{"unknown implementation", ": zk.Lock", ": my.Lock",
		`2:17: workload lock has no implementation "my.Lock" (did you mean zk.Lock?); expected one of ` +
			`recipes.Lock, recipes.HerdLock, recipes.WriteLock, zk.Lock` + own},
	{"workload is a number", ": lock", ": 5",
		"1:11: workload: found a number; expected text in quotes"},
	{"clients is text", "clients: 2", "clients: two",
		"3:10: clients: found text; expected a whole number"},
	{"clients is quoted", "clients: 2", `clients: "2"`,
		"3:10: clients: found text; expected a whole number"},
	{"clients is nothing", "clients: 2", "clients: ~",
		"3:10: clients: found nothing; expected a whole number"},
	{"no client", "clients: 2", "clients: 0", "3:10: clients: 0; expected 1 to 26"},
	{"many clients", "clients: 2", "clients: 1000000", "3:10: clients: 1000000; expected 1 to 26"},
	{"negative rounds", "rounds: 1", "rounds: -1", "4:9: rounds: -1; expected 1 to 1000"},
	{"no goroutines", "rounds: 1", "rounds: 1\ngoroutines: 0",
		"5:13: goroutines: 0; expected 1 to 8"},
	{"too many goroutines", "rounds: 1", "rounds: 1\ngoroutines: 9",
		"5:13: goroutines: 9; expected 1 to 8"},
	{"goroutines for a careless lock", "rounds: 1", "rounds: 1\ngoroutines: 2\ncareless: true",
		"5:13: goroutines: 2; expected 1: an object of lock zk.Lock is not used by several " +
			"goroutines"},
	{"no servers", "rounds: 1", "rounds: 1\nservers: 0", "5:10: servers: 0; expected 1 to 7"},
	{"too many servers", "rounds: 1", "rounds: 1\nservers: 8", "5:10: servers: 8; expected 1 to 7"},
	{"goroutines is text", "rounds: 1", "rounds: 1\ngoroutines: two",
		"5:13: goroutines: found text; expected a whole number"},
	{"careless is a number", "rounds: 1", "rounds: 1\ncareless: 1",
		"5:11: careless: found a number; expected true or false"},
	{"rounds is a list", "rounds: 1", "rounds: [1]",
		"4:9: rounds: found a list; expected a whole number"},
	{"negative seed", "seed: 1", "seed: -1",
		"5:7: seed: found -1; expected 0 to 18446744073709551615"},
	{"large seed", "seed: 1", "seed: 18446744073709551616",
		"5:7: seed: found 18446744073709551616; expected 0 to 18446744073709551615"},
	{"large number of rounds", "rounds: 1", "rounds: 3000000000",
		"4:9: rounds: found 3000000000; expected at most 2147483647"},
	{"fractional seed", "seed: 1", "seed: 1.5",
		"5:7: seed: found a fraction; expected a whole number"},
	{"seed is a switch", "seed: 1", "seed: true",
		"5:7: seed: found true or false; expected a whole number"},
	{"alias", "seed: 1", "seed: &s 1", "5:7: found an anchor; expected plain keys, text and lists"},
	{"plan is a number", "plan:\n  - cut client=a request=1", "plan: 3",
		"6:7: plan: found a number; expected a list of faults"},
	{"fault is a mapping", "- cut client=a request=1", "- kind: cut",
		"7:5: plan: found keys and values; expected faults as text"},
	{"fault of no kind", "- cut client", "- explode client",
		`7:5: unknown fault kind "explode"; expected one of drop-request, drop-reply, cut, ` +
			`cut-mid-frame, stall, stall-mid-frame, delay, pause, blackhole, refuse, expire, ` +
			`restart, crash, respawn, error, ` +
			`late-reap-unlike-3.8, lag, isolate, pause-server, elect, failover-lose, failover-keep`},
	{"fault without a place", "cut client=a request=1", "cut client=a",
		`7:5: fault "cut client=a": expected exactly one of request=, event= and at=`},
	{"fault with a bad number", "request=1", "request=one",
		`7:5: fault "cut client=a request=one": request=one: expected a whole number from 1`},
	{"no such client", "client=a", "client=z",
		`7:5: fault "cut client=z request=1": no client is called "z"; with clients: 2 they ` +
			`are a, b`},
	{"bad expectation", "expect: violated", "expect: maybe",
		`8:9: expect: "maybe"; expected ok or violated`},
	{"bad property", ": liveness", ": beauty",
		`9:11: property: "beauty"; expected one of safety, belief, fencing, linearizability, ` +
			`liveness, orphans, herd, panic, frozen, crash`},
	{"property of a queue", ": liveness", ": delivery",
		`9:11: property: "delivery"; expected one of safety, belief, fencing, ` +
			`linearizability, liveness, orphans, herd, panic, frozen, crash`},
	{"leading zero", "clients: 2", "clients: 010",
		"3:10: clients: found 010; expected plain decimal digits"},
	{"hexadecimal", "seed: 1", "seed: 0x1F",
		"5:7: seed: found 0x1F; expected plain decimal digits"},
	{"fault twice", "request=1\n", "request=1\n  - cut  client=a request=1\n",
		`8:5: fault "cut  client=a request=1" is given twice`},
	{"property of what is ok", "expect: violated", "expect: ok",
		"9:11: property goes with expect: violated only"},
	{"bad trace", "property: liveness", "trace: abc",
		`9:8: trace: "abc"; expected a SHA-256 of 64 hexadecimal digits`},
	{"flag for a package", "property: liveness", "test: TestA\npackage: -exec=rm",
		`10:10: package: "-exec=rm"; expected an import path`},
	{"package pattern", "property: liveness", "test: TestA\npackage: ./...",
		`10:10: package: "./..."; expected an import path`},
	{"bad tags", "property: liveness", "test: TestA\ntags: a b",
		`10:7: tags: "a b"; expected build tags with commas between`},
	{"package without a test", "property: liveness", "package: a.org/b",
		` test is missing: package and tags go with it`},
	{"huge", good, strings.Repeat("#", 1<<20), " 1048576 bytes; expected at most 16384"},
}

// own ends the error of a name that is not known.
const own = "; code of your own is known to your own command or test alone"

// kinds are those of the built-in workloads.
const kinds = "lock, reentrant, rwlock, semaphore, multi-lock, revocable, queue, lock-queue, " +
	"election, barrier, double-barrier, threshold-barrier, two-phase-commit, " +
	"priority-queue, delay-queue, id-queue, turn-queue, counter, value, cache, " +
	"id-generator, config, membership, registry"

func TestBadScenarioFilesAreRefusedWithThePlace(t *testing.T) {
	if _, err := saved.Parse("f.yaml", []byte(good), builtin.Find); err != nil {
		t.Fatal(err)
	}
	for _, c := range badFiles {
		t.Run(c.about, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("%q is not in the good file", c.old)
			}
			_, err := saved.Parse("f.yaml", []byte(text), builtin.Find)
			if err == nil {
				t.Fatalf("accepted:\n%s", text)
			}
			check.Equal(t, err.Error(), "f.yaml:"+c.want)
		})
	}
}

// TestByteOrderMarkIsSkipped, as in tree files, and moves no place.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	want, err := saved.Parse("f.yaml", []byte(good), builtin.Find)
	check.OK(t, err)
	got, err := saved.Parse("f.yaml", []byte("\ufeff"+good), builtin.Find)
	if err != nil || fileText(got) != fileText(want) {
		t.Errorf("%s, error %v; want %s", fileText(got), err, fileText(want))
	}
	_, err = saved.Parse("f.yaml", []byte("\ufeff"+strings.Replace(good, ": lock", ": 5", 1)),
		builtin.Find)
	if want := "f.yaml:1:11: workload: found a number; expected text in quotes"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
}

// TestCheckTellsOfEveryDifference between the expected outcome of a file and the outcome of its
// run.
func TestCheckTellsOfEveryDifference(t *testing.T) {
	deadlock := scenario.Scenario{Workload: fuzztest.Builtin(t, "lock", "zk.Lock"),
		Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
		Plan: plan(t, "drop-request client=a op=getChildren2 request=1")}
	calm := scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
	}
	missing := calm
	missing.Plan = plan(t, "cut client=a request=999")
	for _, c := range []struct {
		about string
		file  saved.File
		want  string
	}{
		{
			"as expected", saved.File{
				Scenario: deadlock, Expect: linearizability.Violated, Property: "liveness",
			}, "",
		},
		{"any property", saved.File{Scenario: deadlock, Expect: linearizability.Violated}, ""},
		{"calm", saved.File{Scenario: calm}, ""},
		{
			"violated", saved.File{Scenario: deadlock},
			"expected ok, but liveness is violated: client a waits for",
		},
		{
			"of another property", saved.File{
				Scenario: deadlock, Expect: linearizability.Violated, Property: "safety",
			}, "expected a violation of safety, but liveness is violated",
		},
		{
			"not violated", saved.File{
				Scenario: calm, Expect: linearizability.Violated, Property: "safety",
			}, "expected a violation of safety, but the verdict is ok",
		},
		{
			"missed fault", saved.File{Scenario: missing},
			`fault "cut client=a request=999" matches nothing in this run any more`,
		},
		{
			"other trace", saved.File{Scenario: calm, Trace: strings.Repeat("0", 64)},
			"the trace differs from the recorded one",
		},
	} {
		r, err := c.file.Check(true)
		check.OK(t, err)
		got := strings.Join(r.Problems, "\n")
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || len(r.Problems) > 1 {
			t.Errorf("%s: problems: %q; want %q", c.about, got, c.want)
		}
	}
}

// TestPropertiesOfAnotherJudgeReadBack: a judge names its properties as it likes, although the
// workload may have the name of a built-in kind.
func TestPropertiesOfAnotherJudgeReadBack(t *testing.T) {
	for _, kind := range []string{"lock", "queue", "counter", "account"} {
		for _, property := range []string{
			scenario.InvariantProperty, "panic", "frozen", saved.Crash, "balance of accounts", "",
		} {
			w := scenario.Workload{Name: kind, Impl: "own",
				Play: func(*scenario.Player, scenario.Script) {},
				Judge: func(scenario.Evidence) (linearizability.Report, error) {
					v := linearizability.Verdict{
						Property: property, Status: linearizability.Violated, Summary: "no",
					}
					return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
				}}
			file := saved.Of(
				run(t, scenario.Scenario{
					Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1},
				}),
			)
			data := file.Text()
			got, err := saved.Parse(
				"f.yaml", data, func(string, string) (scenario.Workload, error) { return w, nil },
			)
			if err != nil || got.Property != property || got.Expect != linearizability.Violated {
				t.Errorf("%s, %q: read back as %v of %q, %v", kind, property, got.Expect,
					got.Property, err)
			}
		}
	}
}

// TestSaveReplacesTheWholeFile: a reader with the old file open reads it to its end.
func TestSaveReplacesTheWholeFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "new", "f.yaml")
	file := saved.File{
		Scenario: scenario.Scenario{
			Workload: fuzztest.Builtin(t, "lock", ""),
			Script:   scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
		},
	}
	check.OK(t, file.Save(name))
	old, err := os.Open(name)
	check.OK(t, err)
	defer old.Close()
	file.Scenario.Seed = 2
	check.OK(t, file.Save(name))
	if text, err := io.ReadAll(old); err != nil || !strings.Contains(string(text), "\nseed: 1\n") {
		t.Errorf("the old file, %v:\n%s\nwant seed: 1", err, text)
	}
	if loaded, err := saved.Load(name, builtin.Workloads().Find); err != nil ||
		loaded.Scenario.Seed != 2 {
		t.Errorf("%v, seed %d; want 2", err, loaded.Scenario.Seed)
	}
	onlyFile(t, filepath.Dir(name), "f.yaml")
}

// TestSaveThatFailsLeavesNothing: here a directory has the name.
func TestSaveThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, os.Mkdir(filepath.Join(dir, "f.yaml"), 0o777))
	file := saved.File{
		Scenario: scenario.Scenario{
			Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.DefaultScript,
		},
	}
	if err := file.Save(filepath.Join(dir, "f.yaml")); err == nil ||
		!strings.HasPrefix(err.Error(), "save scenario: ") {
		t.Errorf("got %v; want an error", err)
	}
	onlyFile(t, dir, "f.yaml")
}

func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("%s holds %v; want %s alone", dir, entries, name)
	}
}
