package sim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

func TestMissedFaultsAreReported(t *testing.T) {
	hit := fault.Fault{Kind: fault.DropReply, Client: "a", Request: 1}
	missed := []fault.Fault{
		{Kind: fault.DropReply, Client: "a", Request: 99}, {Kind: fault.Cut, Event: 1},
		{Kind: fault.Cut, At: time.Hour},
		{Kind: fault.Cut, Client: "a", Op: "getACL", Request: 1},
		{Kind: fault.Cut, Path: "/none/*", Request: 1},
	}
	r := mustRun(t, World{
		Plan: append([]fault.Fault{hit}, missed...),
		Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
			_, _, _ = c.Conn().Exists("/")
		})},
	})
	check.List(t, r.Missed, missed, "missed")
}

func TestWorldIsValidated(t *testing.T) {
	idle := func(context.Context, *Client) {}
	tests := []struct {
		world World
		want  string
	}{
		{
			World{Clients: []Actor{actor("", idle)}},
			`client name "": expected letters, digits, - and _`,
		},
		{World{Clients: []Actor{actor("a b", idle)}}, `client name "a b"`},
		{
			World{Clients: []Actor{actor("a", idle), actor("a", idle)}},
			`client name "a" is used twice`,
		},
		{World{Clients: []Actor{{Name: "a"}}}, `client "a" has nothing to run`},
		{World{Next: map[string]int32{"/a": 1}}, `next: 1 for "/a": expected a path of Nodes`},
		{World{Nodes: map[string]string{"/a/b": ""}, Next: map[string]int32{"/a": 0}},
			`next: 0 for "/a": expected a path of Nodes or one of their parents, and a number of 1 at least, or below 0`},
		{World{Plan: []fault.Fault{{Kind: "explode"}}}, `fault 1: unknown fault kind "explode"`},
		{
			World{Plan: []fault.Fault{{Kind: fault.Cut, At: 1, Client: "z"}}},
			`no client is called "z"`,
		},
	}
	for _, test := range tests {
		_, err := test.world.Run()
		check.Contains(t, fmt.Sprint(err), test.want)
	}
}

func TestScriptThatPanics(t *testing.T) {
	r := mustRun(t, World{Clients: []Actor{
		actor("a", func(_ context.Context, c *Client) {
			_, _,
				_ = c.Conn().Exists("/")
			panic("broken script")
		}),
		actor("b", func(_ context.Context, c *Client) {
			_, _ = c.Conn().Create("/b", nil, 0, worldACL)
		}),
	}})
	if len(r.Panics) != 1 || !strings.Contains(r.Panics[0], "client a: panic: broken script") ||
		!strings.Contains(r.Panics[0], "run_test.go") {
		t.Errorf("panics: %v", r.Panics)
	}
	if r.Leaked+r.Frozen != "" || !strings.Contains(r.Trace.String(), "panics: broken script") {
		t.Errorf("leaked %q frozen %q\n%s", r.Leaked, r.Frozen, r.Trace)
	}
	check.Equal(t, len(r.Nodes), 2, "the other client did not finish: %+v", r.Nodes)
}

// TestScriptThatEndsItsGoroutine: the rest of the script never runs, so it counts like a panic.
func TestScriptThatEndsItsGoroutine(t *testing.T) {
	marks.Expect(t, "script without a return")
	r := mustRun(t, World{Clients: []Actor{
		actor("a", func(_ context.Context, c *Client) {
			_, _,
				_ = c.Conn().Exists("/")
			runtime.Goexit()
		}),
		actor("b", func(_ context.Context, c *Client) {
			c.Goroutines(2, func(g *Goroutine) {
				if g.Number() == 1 {
					runtime.Goexit()
				}
			})
		}),
	}})
	if len(r.Panics) != 2 || !strings.Contains(r.Panics[1],
		"client a: panic: the script ended its goroutine") ||
		!strings.Contains(r.Panics[0], "client b.2: panic: ") ||
		!strings.Contains(r.Panics[1], "run_test.go") {
		t.Errorf("panics: %v", r.Panics)
	}
}

func TestScriptThatWaitsForItsContext(t *testing.T) {
	r := mustRun(t, World{Limit: time.Hour, Clients: []Actor{
		actor("a", func(ctx context.Context, c *Client) { c.Conn(); <-ctx.Done() }),
		actor("b", func(context.Context, *Client) {}),
	}})
	if !slices.Equal(r.Busy, []string{"a"}) || r.Leaked+r.Frozen != "" {
		t.Errorf("busy %v leaked %q frozen %q", r.Busy, r.Leaked, r.Frozen)
	}
	if len(r.BusyStacks) != 1 || !strings.Contains(r.BusyStacks[0], "run_test.go") ||
		strings.Contains(r.BusyStacks[0], "\n\n") {
		t.Errorf("stacks %q; want that of one script", r.BusyStacks)
	}
	if r.Elapsed < time.Hour || r.Elapsed > time.Hour+time.Minute {
		t.Errorf("elapsed %s", r.Elapsed)
	}
}

// TestLastRequestsAreNoRunaway: a script that ends with its context, right after some requests,
// leaves no connection behind.
func TestLastRequestsAreNoRunaway(t *testing.T) {
	r := mustRun(t, World{Limit: time.Minute, Clients: []Actor{
		actor("a", func(ctx context.Context, c *Client) {
			conn := c.Conn()
			<-ctx.Done()
			for range 3 {
				if _, _, err := conn.Exists("/a"); err != nil {
					panic(err)
				}
			}
		}),
	}})
	if !slices.Equal(r.Busy, []string{"a"}) || r.Leaked+r.Frozen != "" || len(r.Panics) > 0 {
		t.Errorf("busy %v leaked %q frozen %q panics %v", r.Busy, r.Leaked, r.Frozen, r.Panics)
	}
}

// TestPollingInTurnIsNoRunaway: a client that sleeps between its requests makes pauses, also if
// each request awaits its turn.
func TestPollingInTurnIsNoRunaway(t *testing.T) {
	const goroutines, polls = 2, guard.MaxBurst
	r := mustRun(t, World{Clients: []Actor{
		actor("a", func(_ context.Context, c *Client) {
			conn := c.Conn()
			c.Goroutines(goroutines, func(*Goroutine) {
				for range polls {
					AwaitTurn("exists")
					if _, _, err := conn.Exists("/a"); err != nil {
						panic(err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}),
	}})
	if r.Runaway != nil || len(r.Busy) > 0 || len(r.Panics) > 0 {
		t.Errorf("runaway %+v, busy %v, panics %v", r.Runaway, r.Busy, r.Panics)
	}
}

// This one leaves goroutines behind, as it must. Later runs do not count them.
func TestScriptThatNeverReturns(t *testing.T) {
	before := guard.Leaked()
	r := mustRun(t, World{Limit: time.Minute, Clients: []Actor{
		actor("a", func(_ context.Context, c *Client) { c.Conn(); waitForEver() }),
		actor("b", func(_ context.Context, c *Client) {
			_, _ = c.Conn().Create("/b", nil, 0, worldACL)
		}),
	}})
	if !slices.Equal(r.Busy, []string{"a"}) || !strings.Contains(r.Leaked, "waitForEver") ||
		r.Frozen != "" {
		t.Errorf("busy %v leaked %q frozen %q", r.Busy, r.Leaked, r.Frozen)
	}
	if strings.Contains(r.Leaked, "sim.mustRun") {
		t.Errorf("stacks of goroutines outside the bubble: %s", r.Leaked)
	}
	check.List(t, slices.Sorted(maps.Values(r.Scripts)), []string{"a", "b"}, "scripts")
	left := int64(strings.Count(r.Leaked, "\ngoroutine "))
	if n := guard.Leaked() - before; n != left || n == 0 {
		t.Errorf("%d goroutines count as left behind, and %d are", n, left)
	}
}

func waitForEver() { select {} }

func TestScriptThatSpins(t *testing.T) {
	var stop sync.Once
	spinning := make(chan struct{})
	defer stop.Do(func() { close(spinning) })
	r := mustRun(t, World{Freeze: 2 * time.Second, Clients: []Actor{
		actor("a", func(context.Context, *Client) { spin(spinning) }),
	}})
	if !strings.Contains(r.Frozen, "sim.spin(") || strings.Contains(r.Frozen, "sim.mustRun") {
		t.Errorf("frozen: %q; want the stacks of the bubble", r.Frozen)
	}
}

func spin(until <-chan struct{}) {
	for {
		select {
		case <-until:
			return
		default:
			runtime.Gosched()
		}
	}
}

// Time passes, and the script asks for something at every instant: the World gives up by steps.
func TestMaxStepsEndsARunWithoutProgress(t *testing.T) {
	r := mustRun(t, World{MaxSteps: 500, Clients: []Actor{
		actor("a", func(ctx context.Context, c *Client) {
			for ctx.Err() == nil {
				if _, _, err := c.Conn().Exists("/"); err != nil {
					return
				}
			}
		}),
	}})
	if r.Steps < 500 || r.Steps > 1500 || !slices.Equal(r.Busy, []string{"a"}) || r.Frozen != "" {
		t.Errorf("steps %d busy %v frozen %q", r.Steps, r.Busy, r.Frozen)
	}
}

// A run that was cut short by MaxSteps is torn down like any other.
func TestMaxStepsLeavesNothingBehind(t *testing.T) {
	for seed := range uint64(20) {
		w := anyWorld(seed)
		w.Plan, w.MaxSteps = nil, 40
		if r := mustRun(t, w); r.Leaked != "" {
			t.Fatalf("seed %d: leaked %s", seed, r.Leaked)
		}
	}
}

func TestNothingIsLeftAfterFiftyRuns(t *testing.T) {
	count := func() int {
		n := 0
		for _, g := range strings.Split(bubble.Stacks(), "\n\n") {
			if strings.Contains(g, "synctest bubble") && !strings.Contains(g, "waitForEver") {
				n++
			}
		}
		return n
	}
	before := count()
	for seed := range uint64(50) {
		r := mustRun(t, anyWorld(seed))
		if r.Leaked+r.Frozen != "" || len(r.Panics) > 0 {
			t.Fatalf("seed %d: leaked %q frozen %q panics %v", seed, r.Leaked, r.Frozen, r.Panics)
		}
	}
	if after := count(); after > before {
		t.Errorf("%d goroutines of bubbles, before %d:\n%s", after, before, bubble.Stacks())
	}
}

func TestChildrenComeShuffled(t *testing.T) {
	var sorted, others, orders int
	seen := map[string]bool{}
	for seed := range uint64(20) {
		r := mustRun(t, World{
			Seed:  seed,
			Nodes: map[string]string{"/p/a": "", "/p/b": "", "/p/c": "", "/p/d": "", "/p/e": ""},
			Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
				names, _, err := c.Conn().Children("/p")
				c.Note("children %v %v", strings.Join(names, ""), err)
			})},
		})
		_, rest, _ := strings.Cut(r.Trace.String(), "children ")
		order, _, _ := strings.Cut(rest, " ")
		if order == "abcde" {
			sorted++
		} else {
			others++
		}
		if !seen[order] {
			orders++
			seen[order] = true
		}
		letters := strings.Split(order, "")
		if slices.Sort(letters); strings.Join(letters, "") != "abcde" {
			t.Errorf("seed %d: %q", seed, order)
		}
	}
	if others < 15 || orders < 10 {
		t.Errorf("%d sorted, %d others, %d orders", sorted, others, orders)
	}
}

func TestSequenceNumbersGoOnFromNext(t *testing.T) {
	for _, c := range []struct {
		next int32
		want []string
	}{
		{7, []string{"/p/a0000000007", "/p/b0000000008"}},
		{math.MaxInt32, []string{"/p/a2147483647", "/p/b2147483647"}},
		{math.MinInt32, []string{"/p/a-2147483648", "/p/b-2147483647"}},
	} {
		r := mustRun(t, World{
			Nodes: map[string]string{"/p": ""}, Next: map[string]int32{"/p": c.next},
			Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
				_, _ = c.Conn().Create("/p/a", nil, zk.FlagSequence, worldACL)
				_, _ = c.Conn().Create("/p/b", nil, zk.FlagSequence, worldACL)
			})},
		})
		var paths []string
		for _, n := range r.Nodes {
			paths = append(paths, n.Path)
		}
		if want := append([]string{"/", "/p"}, c.want...); !slices.Equal(paths, want) {
			t.Errorf("next %d: nodes %q, want %q", c.next, paths, want)
		}
	}
}

func TestSeedsGiveDifferentSchedules(t *testing.T) {
	hashes := map[string]bool{}
	for seed := range uint64(20) {
		hashes[mustRun(t, World{Seed: seed, Clients: lockers(2, 1)}).Trace.Hash()] = true
	}
	check.Equal(t, len(hashes), 20, "traces of 20 seeds")
}

func TestParallelWorldsGiveTheTracesOfLonelyOnes(t *testing.T) {
	const worlds = 24
	var alone [worlds]string
	for seed := range uint64(worlds) {
		alone[seed] = mustRun(t, anyWorld(seed)).Trace.Hash()
	}
	var wg sync.WaitGroup
	for worker := range uint64(2) {
		wg.Go(func() {
			for i := range uint64(worlds) {
				seed := (i + worker*worlds/2) % worlds
				check.Equal(t, mustRun(t, anyWorld(seed)).Trace.Hash(), alone[seed],
					"seed %d: another trace in parallel", seed)
			}
		})
	}
	wg.Wait()
}

func TestAnyNumberOfProcessorsGivesTheSameTrace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []string
	for _, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		var got []string
		for seed := range uint64(20) {
			got = append(got, mustRun(t, anyWorld(seed)).Trace.Hash())
		}
		if want == nil {
			want = got
		}
		check.List(t, got, want, "GOMAXPROCS %d: other traces", procs)
	}
}

// The negative control: without the discipline the double-run check must notice. zksim go has a
// discipline of its own.
func TestUndisciplinedWorldsDiverge(t *testing.T) {
	diverged := false
	for range 10 {
		w := World{Seed: 1, Clients: lockers(4, 3), Limit: time.Minute, unordered: true}
		w.Plan = []fault.Fault{{Kind: fault.Restart, For: time.Second, At: 150 * time.Millisecond}}
		first, second := mustRun(t, w).Trace, mustRun(t, w).Trace
		diverged = diverged || first.Hash() != second.Hash()
	}
	check.Equal(t, diverged, !Overlaid, "some of ten double runs differ")
}

func TestInitialNodesAndRestingState(t *testing.T) {
	r := mustRun(t, World{
		Nodes: map[string]string{"/config/a": "1", "/config/b": "2"},
		Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
			_, _, _, err := c.Conn().GetW("/config/a")
			c.Note("get: %v", err)
			_, err = c.Conn().Create("/mine", []byte("x"), zk.FlagEphemeral, worldACL)
			c.Note("create: %v", err)
		})},
	})
	var got []string
	for _, n := range r.Nodes {
		got = append(got, fmt.Sprintf("%s=%s", n.Path, n.Data))
	}
	if want := "[/= /config= /config/a=1 /config/b=2 /mine=x]"; fmt.Sprint(got) != want {
		t.Errorf("nodes %v, want %s", got, want)
	}
	if len(r.Sessions) != 1 || len(r.Watches) != 1 || r.Watches[0].Path != "/config/a" {
		t.Fatalf("sessions %+v, watches %+v", r.Sessions, r.Watches)
	}
	id := r.Sessions[0].ID
	if r.SessionClient[id] != "a" || !slices.Equal(r.Sessions[0].Ephemerals, []string{"/mine"}) ||
		r.Watches[0].Session != id {
		t.Errorf("sessions %+v of %v, watches %+v", r.Sessions, r.SessionClient, r.Watches)
	}
}

func TestGUIDsAndSessionsAreRenamedInTheTrace(t *testing.T) {
	r := mustRun(t, World{Clients: lockers(2, 1)})
	text := r.Trace.String()
	if trace.Renamable.MatchString(text) {
		t.Errorf("not renamed: %s", trace.Renamable.FindString(text))
	}
	for _, name := range []string{"S1", "S2", "_c_G1-lock-", "_c_G2-lock-"} {
		check.Contains(t, text, name, "%s", text)
	}
	for id := range r.SessionClient {
		if got := r.Trace.Rename(tracetext.Session(id)); got != "S1" && got != "S2" {
			t.Errorf("session 0x%x is called %s", id, got)
		}
	}
}

func TestMomentsAreLinesOfTheTrace(t *testing.T) {
	var noted trace.Moment
	r := mustRun(t, World{Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
		_, _, _ = c.Conn().Exists("/")
		noted = c.Note("here I am")
		c.Note("and here")
	})}})
	line := r.Step(noted)
	check.Contains(t, r.Trace.Line(line), "here I am", "line %d", line)
	check.Equal(t, r.Step(trace.AfterEnd), int64(r.Trace.Len())+1,
		"AfterEnd")
	if got := r.Trace.Range(line, line+1); strings.Count(got, "\n") != 2 ||
		!strings.Contains(got, "and here") {
		t.Errorf("range: %q", got)
	}
}
