package scenario_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// brokenLock calls a function for Lock.
type brokenLock func(ctx context.Context) error

func (l brokenLock) Lock(ctx context.Context) error { return l(ctx) }
func (l brokenLock) Unlock(context.Context) error   { return nil }

func brokenScenario(lock brokenLock) scenario.Scenario {
	w := object.Lock(func(object.Env) object.Locker { return lock }).Named("broken")
	return scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1}
}

// derefNil panics with a nil dereference.
func derefNil(context.Context) error {
	var nobody *scenario.Script
	nobody.Rounds = 1
	return nil
}

// sameStory fails unless the story has want and a second run has the same story, without addresses
// and numbers of goroutines.
func sameStory(t *testing.T, s scenario.Scenario, want ...string) {
	t.Helper()
	story := run(t, s).Story()
	for _, w := range want {
		check.Contains(t, story, w)
	}
	if strings.Contains(story, "0x") || strings.Contains(story, "goroutine 1") {
		t.Errorf("the story has addresses or numbers of goroutines:\n%s", story)
	}
	if again := run(t, s).Story(); again != story {
		t.Errorf("one run tells:\n%s\nanother:\n%s", story, again)
	}
}

func TestStoryOfAPanicSaysWhere(t *testing.T) {
	s := brokenScenario(derefNil)
	sameStory(t, s, "innermost call first:\n\n"+
		"  broken_test.go:30  github.com/zksim/zksim/fuzz/scenario_test.derefNil\n"+
		"  broken_test.go:19  github.com/zksim/zksim/fuzz/scenario_test.brokenLock.Lock\n")
	exits := unseen(func(*scenario.Player) { exit() })
	sameStory(t, exits, "innermost call first:\n\n  broken_test.go:", "scenario_test.exit")
}

// frozenStacks are stacks of the runtime: one goroutine spins, one waits for a mutex, and one holds
// the mutex while it waits for the server.
const frozenStacks = `goroutine 45 [runnable, synctest bubble 3]:
runtime.asyncPreempt()
	/go/src/runtime/preempt.go:1 +0x1
mylock.(*Lock).look(0x1727852e7560)
	/src/mylock/mylock.go:LINE +0x7
mylock.(*Lock).Lock(0x1727852e7560)
	/src/mylock/mylock.go:20 +0x7
github.com/zksim/zksim/fuzz.lockPlayer.attempt({0x10?, 0xae8d80?})
	/zksim/fuzz/lock.go:160 +0xcc
github.com/zksim/zksim/fuzz/scenario.Scenario.world.func1({0xbea248})
	/zksim/fuzz/scenario.go:219 +0x36a

goroutine 46 [sync.Mutex.Lock, synctest bubble 3]:
mylock.(*Lock).Unlock(0x1)
	/src/mylock/mylock.go:40 +0x7
github.com/zksim/zksim/fuzz/scenario.Scenario.world.func1({0xbea248})
	/zksim/fuzz/scenario.go:219 +0x36a

goroutine 47 [select (durable), synctest bubble 3]:
github.com/go-zookeeper/zk.(*Conn).request(0x1)
	/zk/conn.go:933 +0x9d
mylock.(*Lock).renew(0x1)
	/src/mylock/mylock.go:50 +0x7
created by mylock.New in goroutine 40
	/src/mylock/mylock.go:9 +0x7

goroutine 48 [select (durable), synctest bubble 3]:
github.com/go-zookeeper/zk.(*Conn).sendLoop(0x1)
	/zk/conn.go:767 +0x105
created by github.com/go-zookeeper/zk.(*Conn).loop in goroutine 46
	/zk/conn.go:451 +0x311`

// TestStoryOfAFrozenRunSaysWhere, at whatever line the spinning goroutine was seen.
func TestStoryOfAFrozenRunSaysWhere(t *testing.T) {
	var stories []string
	for _, line := range []string{"30", "31"} {
		o := &scenario.Outcome{
			Scenario: unseen(nil), Result: &trace.Result{
				Frozen: strings.Replace(frozenStacks, "LINE", line, 1),
				Trace:  run(t, unseen(func(*scenario.Player) {})).Result.Trace,
			},
		}
		stories = append(stories, o.Story())
	}
	want := `where it broke, the innermost call first:

a goroutine that spins:
  mylock.go  mylock.(*Lock).Lock

a goroutine that waits for a mutex, or for what is outside of the run:
  mylock.go:40  mylock.(*Lock).Unlock

a goroutine that waits:
  conn.go:933  github.com/go-zookeeper/zk.(*Conn).request
  mylock.go:50  mylock.(*Lock).renew
`
	if !strings.HasSuffix(stories[0], want) {
		t.Errorf("the story:\n%s\nwant at its end:\n%s", stories[0], want)
	}
	if stories[0] != stories[1] {
		t.Errorf("one look tells:\n%s\nanother:\n%s", stories[0], stories[1])
	}
}

// TestLeakIsSeenWhateverTheJudge: a goroutine that never ends violates orphans.
func TestLeakIsSeenWhateverTheJudge(t *testing.T) {
	s := unseen(func(*scenario.Player) { go waitForEver() })
	o := run(t, s)
	if o.Property() != linearizability.Orphans ||
		!strings.Contains(o.Summary(), "scenario_test.waitForEver, begun at broken_test.go:") {
		t.Errorf("property %q, summary %q; want orphans and where it is", o.Property(), o.Summary())
	}
	sameStory(t, s)
}

// TestPanicOfAnotherGoroutineCanBeFound: Go lets no other goroutine recover it, so the process
// ends. A goroutine that recovers its own panic and stays is reported as leaked.
func TestPanicOfAnotherGoroutineCanBeFound(t *testing.T) {
	o := run(t, unseen(func(p *scenario.Player) { go renewBadly(p.Context()) }))
	if o.Property() != linearizability.Orphans ||
		!strings.Contains(o.Summary(), "scenario_test.renewBadly, begun at broken_test.go:") {
		t.Errorf("property %q, summary %q; want orphans and where it is", o.Property(), o.Summary())
	}
}

func renewBadly(ctx context.Context) error {
	defer func() {
		if recover() != nil {
			select {}
		}
	}()
	return derefNil(ctx)
}

func exit() { runtime.Goexit() }

func waitForEver() { select {} }
