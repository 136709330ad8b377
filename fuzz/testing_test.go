package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// notedTB is a test that keeps its log.
type notedTB struct {
	name   string
	log    []string
	failed bool
}

func (tb *notedTB) Helper()                    {}
func (tb *notedTB) Name() string               { return tb.name }
func (tb *notedTB) Logf(f string, args ...any) { tb.log = append(tb.log, fmt.Sprintf(f, args...)) }
func (tb *notedTB) Fatalf(f string, args ...any) {
	tb.Logf(f, args...)
	tb.failed = true
	runtime.Goexit() // as that of a testing.T
}

// tested is the result of a test of a workload: whether it fails, and its log.
func tested(name string, w scenario.Workload) (failed bool, text string) {
	tb := &notedTB{name: name}
	var group sync.WaitGroup
	group.Go(func() { fuzz.Test(tb, w) })
	group.Wait()
	return tb.failed, strings.Join(tb.log, "\n")
}

// passes reports a test of a workload that fails, or a text that is not in its log.
func passes(t *testing.T, name string, w scenario.Workload, texts ...string) (log string) {
	t.Helper()
	return ends(t, false, name, w, texts)
}

// fails reports a test of a workload that passes, or a text that is not in its log.
func fails(t *testing.T, name string, w scenario.Workload, texts ...string) (log string) {
	t.Helper()
	return ends(t, true, name, w, texts)
}

func ends(
	t *testing.T, fails bool, name string, w scenario.Workload, texts []string,
) (log string) {
	t.Helper()
	failed, log := tested(name, w)
	check.Equal(t, failed, fails, "%s fails", name)
	for _, text := range texts {
		check.Contains(t, log, text, "%s", name)
	}
	return log
}

func goodLock(env object.Env) object.Locker { return recipes.NewLock(env.Conn, "/lock") }

func clientLock() scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker {
		return classic.NewClientLock(env.Conn, "/lock", zk.WorldACL(zk.PermAll))
	})
	w.Deaf = true
	return w
}

func TestGoodLockPasses(t *testing.T) {
	testrun.SetFlag(t, "zksim.runs", "20")
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	failed, got := tested("TestMine",
		object.Lock(goodLock, object.LockClaims{Fair: true, MaxHerd: 1}))
	n := regexp.MustCompile(
		`survived (\d+) of (\d+) fault points \(\d+ played, \d+ known from their runs\) and 20 other scenarios \(0 undecided\)`,
	).FindStringSubmatch(got)
	if failed || n == nil || n[1] != n[2] {
		t.Errorf("failed: %v; want all fault points survived\n%s", failed, got)
	}
}

// TestViolationsAreDrawn: a failure names its picture, and so does its replay.
func TestViolationsAreDrawn(t *testing.T) {
	t.Chdir(t.TempDir())
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	testrun.SetFlag(t, "zksim.html", "pictures")
	_, first := tested("TestMine", clientLock())
	file := saved(t, "TestMine")[0]
	names, err := filepath.Glob("pictures/TestMine-liveness-*.html")
	if err != nil || len(names) != 1 || !strings.Contains(first, "the picture: "+names[0]) {
		t.Fatalf("the pictures are %q (%v), and the test says:\n%s", names, err, first)
	}
	page, err := os.ReadFile(names[0])
	if err != nil || !strings.Contains(string(page), "-zksim.replay="+file) {
		t.Errorf("the picture does not name the command (%v)", err)
	}
	testrun.SetFlag(t, "zksim.html", "again")
	testrun.SetFlag(t, "zksim.replay", file)
	tested("TestMine", clientLock())
	again, err := os.ReadFile(strings.Replace(names[0], "pictures", "again", 1))
	if err != nil || !bytes.Equal(page, again) {
		t.Errorf("the replay draws another picture (%v)", err)
	}
}

// TestBadLockFailsWithAllItTakes to see it again: the story, the plan, a saved scenario and a
// command that works.
func TestBadLockFailsWithAllItTakes(t *testing.T) {
	t.Chdir(t.TempDir())
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	got := fails(t, "TestMine/on v1.0.4", clientLock())
	names := saved(t, "TestMine__on=20v1.0.4")
	if len(names) != 1 || !strings.Contains(names[0], "liveness-") {
		t.Fatalf("saved are %q", names)
	}
	file := names[0]
	for _, want := range []string{
		"liveness is violated: client a waits for /lock/", "clients: 1, rounds: 1",
		"fault: drop-request client=a op=getChildren2 request=1",
		"what happened (step, virtual time, who):",
		"to see it again: " +
			"go test github.com/zksim/zksim/fuzz -run '^TestMine$/^on v1\\.0\\.4$' " +
			"-zksim.replay=" + file,
	} {
		check.Contains(t, got, want)
	}
	testrun.SetFlag(t, "zksim.replay", file)
	text := fails(t, "TestMine/on v1.0.4", clientLock(), "the whole trace, but for pings:")
	if !strings.HasPrefix(text, "liveness is violated: ") || strings.Contains(text, "ping: ok") {
		t.Errorf("the replay says\n%s", text)
	}
	passes(t, "TestMine/on v1.0.4", object.Lock(goodLock), "nothing is violated any more")
	fails(t, "TestOther", object.Lock(goodLock), `expected one of TestOther`)
}

func TestBadQueueFails(t *testing.T) {
	t.Chdir(t.TempDir())
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	if failed, got := tested("TestQ", object.Queue(func(env object.Env) object.Queuer {
		return classic.NewApacheQueue(env.Conn, "/queue", zk.WorldACL(zk.PermAll))
	})); !failed ||
		!strings.HasPrefix(got, "delivery is violated: ") {
		t.Errorf("failed: %v\n%s", failed, got)
	}
}

// TestLockQueueTakesClaimsLast: they are optional, as for other kinds.
func TestLockQueueTakesClaimsLast(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "5")
	smallScript(t)
	open := func(env object.Env) object.LockQueuer {
		return deliveringQueue{recipes.NewLockQueue(env.Conn, "/queue")}
	}
	claims := object.LockQueueClaims{QueueClaims: object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/dedup"},
	}}
	passes(t, "TestMine", object.LockQueue(open, claims))
	fails(t, "TestMine", object.LockQueue(open)) // without claims, which are not those of this queue
	defer func() {
		if got, want := recover(), "object: at most one set of claims, got 2"; got != want {
			t.Errorf("two sets of claims: panic %v; want %s", got, want)
		}
	}()
	object.LockQueue(open, claims, claims)
}

// deliveringQueue is a recipes.LockQueue as an object.LockQueuer.
type deliveringQueue struct{ *recipes.LockQueue }

func (q deliveringQueue) Take(ctx context.Context) (object.Delivery, error) {
	d, err := q.LockQueue.Take(ctx)
	if d == nil {
		return nil, err
	}
	return d, err
}

func TestReplayOfAMissingFileFails(t *testing.T) {
	testrun.SetFlag(t, "zksim.replay", filepath.Join(t.TempDir(), "nosuch.yaml"))
	fails(t, "TestMine", object.Lock(goodLock), "nosuch.yaml")
}

// TestPrintedPatternMatchesTheTestOnly: go test matches -run element by element.
func TestPrintedPatternMatchesTheTestOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ name, other string }{
		{"TestMine", "TestMineToo"},
		{"TestMine/v1.0.4", "TestMine/v1x0.4"},
		{"TestMine/a/b_(c)", "TestMine/a/b_(cd)"},
		{"TestMine/[1_2]#01", "TestMine/1"},
		{"TestMine/it's", "TestMine/its"},
	} {
		open := func(object.Env) object.Locker { panic("no such luck") }
		_, text := tested(c.name, object.Lock(open))
		pattern := printedPattern(t, text)
		if !matchesTest(t, pattern, c.name) || matchesTest(t, pattern, c.other) {
			t.Errorf("pattern %s: want it to match %s and not %s", pattern, c.name, c.other)
		}
	}
}

var printedCommand = regexp.MustCompile(`go test github.com/zksim/zksim/fuzz -run '((?:[^']|'\\'')*)' '?-zksim\.replay=`)

// printedPattern is the argument of -run in a failure's text, as a shell reads it.
func printedPattern(t *testing.T, text string) string {
	t.Helper()
	m := printedCommand.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no command that a shell can read in:\n%s", text)
	}
	return strings.ReplaceAll(m[1], `'\''`, "'")
}

// matchesTest matches a pattern as go test does, if all slashes of the pattern are between
// elements.
func matchesTest(t *testing.T, pattern, name string) bool {
	t.Helper()
	patterns, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(patterns) != len(names) {
		return false
	}
	for i, p := range patterns {
		matched, err := regexp.MatchString(p, names[i])
		check.OK(t, err)
		if !matched {
			return false
		}
	}
	return true
}

// TestFlagsAreLookedAtFirst: a wrong flag is named before anything is played.
func TestFlagsAreLookedAtFirst(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"zksim.runs", "0", "zksim: -zksim.runs=0; expected 1 or more"},
		{"zksim.runs", "-5", "zksim: -zksim.runs=-5; expected 1 or more"},
		{"zksim.goroutines", "-1", "zksim: -zksim.goroutines: -1; expected 1 to 8"},
		{
			"zksim.goroutines", "2",
			"zksim: -zksim.goroutines: 2; expected 1: " +
				"an object of lock TestMine is not used by several goroutines",
		},
	} {
		t.Run(c.flag+"="+c.value, func(t *testing.T) {
			testrun.SetFlag(t, c.flag, c.value)
			testrun.SetFlag(t, "zksim.careless", "true") // then a client of a lock has one goroutine
			played := false
			w := object.Lock(func(env object.Env) object.Locker {
				played = true
				return goodLock(env)
			}).Named("TestMine")
			if failed, got := tested("TestMine", w); !failed || got != c.want || played {
				t.Errorf("failed: %v, played: %v\n got %s\nwant %s", failed, played, got, c.want)
			}
		})
	}
	testrun.SetFlag(t, "zksim.goroutines", "9")
	counter := fuzztest.Builtin(t, "counter", "")
	fails(t, "TestMine", counter, "zksim: -zksim.goroutines: 9; expected 1 to 8")
}

// TestFlagsOfTheScript: several goroutines of careless clients play, with several servers.
func TestFlagsOfTheScript(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "20")
	testrun.SetFlag(t, "zksim.goroutines", "2")
	testrun.SetFlag(t, "zksim.servers", "3")
	testrun.SetFlag(t, "zksim.careless", "true")
	smallScript(t)
	var scripts sync.Map
	w := object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.InTurn(), "/lock")
	}).Named("TestMine")
	w.Shared = true
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) { scripts.Store(s, true); play(p, s) }
	passes(t, "TestMine", w)
	if _, played := scripts.Load(scenario.Script{
		Clients: 1, Rounds: 1, Goroutines: 2, Servers: 3, Careless: true,
	}); !played {
		t.Error("no careless script of two goroutines and three servers was played")
	}
}

// opened is state that makes two runs of one seed differ.
var opened atomic.Int64

// smallScript makes what Test plays as short as it can be.
func smallScript(t *testing.T) { setScript(t, scenario.Script{Clients: 1, Rounds: 1}) }

// setScript sets the script that Test plays until the test ends.
func setScript(t *testing.T, script scenario.Script) {
	testrun.SetFlag(t, "test.short", "false") // which has a script of its own
	before := scenario.DefaultScript
	scenario.DefaultScript = script
	t.Cleanup(func() { scenario.DefaultScript = before })
}

// countingLock looks at another node in each run.
func countingLock(env object.Env) object.Locker {
	return lockAfter{goodLock(env), env.Conn, fmt.Sprintf("/seen/%d", opened.Add(1))}
}

type lockAfter struct {
	object.Locker
	conn *zk.Conn
	path string
}

func (l lockAfter) Lock(ctx context.Context) error {
	if _, _, err := l.conn.Exists(l.path); err != nil {
		return errors.Join(errors.New("look before locking"), err)
	}
	return l.Locker.Lock(ctx)
}

// TestStateBetweenRunsIsReportedAsSuch and not as a bug of the lock.
func TestStateBetweenRunsIsReportedAsSuch(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "3")
	smallScript(t)
	fails(t, "TestCounting", object.Lock(countingLock), "zksim: 3 of 3 scenarios went in two ways: "+
		"two runs of one seed differ; does the code share state between runs")
}

// TestRareDifferencesAreLogged, as a select with several ready cases makes them.
func TestRareDifferencesAreLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "300")
	smallScript(t)
	var runs atomic.Int64
	passes(t, "TestMine", scenario.Workload{Name: "own", Impl: "TestMine",
		Play: func(p *scenario.Player, _ scenario.Script) {
			call := p.Begin("draw", "")
			drawn := 0
			if p.Agree("number", 150) == 1 {
				drawn = int(runs.Add(1))
			}
			call.OK(linearizability.Result{Output: fmt.Sprint(drawn)})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "none",
			Holds: func(scenario.Evidence) error { return nil }}),
	}, " of 300 scenarios went in two ways", "two runs of one seed differ")
	check.Equal(t, runs.Load() > 0, true, "something was drawn")
}

// looks is a workload with clients that look at a node.
func looks(judge func(scenario.Evidence) (linearizability.Report, error)) scenario.Workload {
	return scenario.Workload{
		Name: "looks", Impl: "mine", Judge: judge,
		Play: func(p *scenario.Player, s scenario.Script) {
			for range s.Rounds {
				p.Persist(func(int) error {
					return p.Call("look", "", func(context.Context) error {
						_, _, err := p.Conn().Exists("/node")
						return err
					})
				})
			}
		},
	}
}

// TestRunTellsThatNothingCouldBeDecided: a test that judges nothing does not pass.
func TestRunTellsThatNothingCouldBeDecided(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "5")
	smallScript(t)
	w := looks(func(scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{
			Property: "safety", Status: linearizability.Unknown, Summary: "it took too long",
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	})
	fails(t, "TestMine", w, "nothing could be decided in any of", "it took too long")
}

// TestRunTellsOfAViolationThatComesAndGoes, and does not promise to show it again.
func TestRunTellsOfAViolationThatComesAndGoes(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "5")
	smallScript(t)
	var runs atomic.Int64
	w := looks(func(scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: "safety", Summary: "wrong"}
		if runs.Add(1) == 3 {
			v.Status = linearizability.Violated
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	})
	got := fails(t, "TestMine", w, "not each time: two runs of one seed differ")
	check.Equal(t, strings.Contains(got, "to see it again"), false)
}
