package lock

import (
	"slices"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// actor is one client of a correct lock with random delays and faults.
type actor struct {
	name    string
	input   string // of its operations
	again   int    // the number of open locks beyond the first
	nested  int    // the number of times that it locked again
	session int64
	state   string
	op      int
	path    string
	token   int64
	decided bool // the server has said yes; the client does not know yet
	expired bool // the session is gone; the client does not know yet
	left    string
	applied bool
}

// lockSimulator makes valid histories of a fair lock of some kind.
type lockSimulator struct {
	fixture
	t        *rapid.T
	kind     kind
	inputs   []string // to draw from
	actors   []*actor
	queue    []string          // live znodes, oldest first
	modes    map[string]string // their inputs
	sessions int64
	nodes    int
}

func newLockSimulator(t *rapid.T, kind kind, inputs ...string) *lockSimulator {
	s := &lockSimulator{t: t, kind: kind, inputs: inputs, modes: map[string]string{}}
	for _, name := range []string{"a", "b", "c"} {
		a := &actor{name: name, state: "idle"}
		s.renew(a)
		s.actors = append(s.actors, a)
	}
	return s
}

func (s *lockSimulator) renew(a *actor) {
	s.sessions++
	a.session, a.expired = s.sessions, false
	s.Starts(a.name, a.session)
}

func (s *lockSimulator) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(s.t, "chance") < percent
}

// act lets one client do one thing. calm means: finish, and no more faults.
func (s *lockSimulator) act(a *actor, calm bool) {
	s.Step += 9 // room for mutations
	switch {
	case a.expired && (calm || s.chance(40)):
		s.learn(a)
	case a.expired && !a.decided && a.state != "holding" && a.state != "unlocking":
	case !a.expired && !calm && s.chance(8):
		s.expire(a)
	case a.left != "" && !a.expired:
		s.clean(a)
	case a.state == "idle" && !calm && !a.expired:
		a.input = rapid.SampledFrom(s.inputs).Draw(s.t, "input")
		a.op, a.state = s.Call(a.name, s.kind.acquire, a.input), "calling"
	case a.state == "calling":
		s.create(a)
	case a.state == "waiting":
		s.wait(a, calm)
	case a.state == "holding" && s.kind.reentrant && (a.again > 0 || a.nested < 2 && s.chance(70)):
		s.nest(a, calm)
	case a.state == "holding":
		a.op, a.state, a.applied, a.nested = s.Call(a.name, s.kind.release,
			a.input), "unlocking", false, 0
	case a.state == "unlocking":
		s.release(a)
	}
}

func (s *lockSimulator) create(a *actor) {
	s.nodes++
	a.path, a.state, a.decided = node(a.name, s.nodes), "waiting", false
	a.token = s.Creates(a.name, a.session, a.path, "", a.session)
	s.queue, s.modes[a.path] = append(s.queue, a.path), a.input
}

// nest locks again, or unlocks until one lock is left.
func (s *lockSimulator) nest(a *actor, calm bool) {
	if a.again > 0 && (calm || s.chance(60)) {
		s.Ret(s.Call(a.name, s.kind.release, a.input), lin.OpOK, lin.Result{Session: a.session})
		a.again--
		return
	}
	s.Ret(s.Call(a.name, s.kind.acquire, a.input), lin.OpOK,
		lin.Result{Session: a.session, Token: a.token})
	a.again, a.nested = a.again+1, a.nested+1
}

// isNext reports whether the capacity suffices for this znode and all older conflicting ones.
func (s *lockSimulator) isNext(path string) bool {
	older := 0
	for _, other := range s.queue {
		if other == path {
			break
		}
		if s.kind.conflicts(lin.Op{Input: s.modes[other]}, lin.Op{Input: s.modes[path]}) {
			older++
		}
	}
	return older < s.kind.capacity
}

func (s *lockSimulator) wait(a *actor, calm bool) {
	switch {
	case a.decided:
		r := lin.Result{Session: a.session, Token: a.token}
		s.Ret(a.op, lin.OpOK, r)
		a.state, a.decided = "holding", false
	case s.isNext(a.path):
		a.decided = true
	case !calm && s.chance(10): // gives up; the znode is cleaned up later
		s.Ret(a.op, lin.OpUnknown, lin.Result{Session: a.session})
		a.state, a.left = "idle", a.path
	}
}

func (s *lockSimulator) release(a *actor) {
	switch {
	case a.expired:
		s.Ret(a.op, lin.OpUnknown, lin.Result{})
		a.state = "idle"
	case !a.applied && a.left == "" && s.chance(15): // the request is lost
		s.Ret(a.op, lin.OpUnknown, lin.Result{})
		a.state, a.left = "idle", a.path
	case !a.applied:
		s.drop(a, a.path)
		a.applied = true
	default:
		outcome := rapid.SampledFrom([]lin.Outcome{lin.OpOK, lin.OpUnknown}).Draw(s.t, "outcome")
		s.Ret(a.op, outcome, lin.Result{Session: a.session})
		a.state = "idle"
	}
}

func (s *lockSimulator) clean(a *actor) {
	s.drop(a, a.left)
	a.left = ""
}

func (s *lockSimulator) drop(a *actor, path string) {
	if i := slices.Index(s.queue, path); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.Deletes(a.name, a.session, path, 1)
	}
}

func (s *lockSimulator) expire(a *actor) {
	var gone []string
	s.queue = slices.DeleteFunc(s.queue, func(path string) bool {
		mine := path[len("/lock/"):len("/lock/")+1] == a.name
		if mine {
			gone = append(gone, path)
		}
		return mine
	})
	s.Expires(a.session, gone...)
	a.expired, a.left = true, ""
}

// learn tells the client of the expiry. Its hold is lost, and a wait starts again in the new
// session.
func (s *lockSimulator) learn(a *actor) {
	s.Told(a.name, lin.SessionExpired)
	s.renew(a)
	a.decided = false
	switch a.state {
	case "waiting":
		a.state = "calling"
	case "holding":
		a.state, a.again, a.nested = "idle", 0, 0
	case "unlocking":
		s.Ret(a.op, lin.OpOK, lin.Result{Session: a.session})
		a.state = "idle"
	}
}

func randomLock(t *rapid.T) lin.History { return randomHolds(t, mutex, "") }

// randomHolds makes valid histories of a fair lock of some kind; inputs are the inputs of its
// operations.
func randomHolds(t *rapid.T, kind kind, inputs ...string) lin.History {
	s := newLockSimulator(t, kind, inputs...)
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		s.act(rapid.SampledFrom(s.actors).Draw(t, "actor"), false)
	}
	for round, busy := 0, true; busy; round++ {
		if busy = false; round > 1000 {
			t.Fatalf("the lock of this test does not come to rest:\n%s", judgingtest.Dump(s.History()))
		}
		for _, a := range s.actors {
			if a.state != "idle" || a.expired || a.left != "" {
				s.act(a, true)
				busy = true
			}
		}
	}
	return s.History()
}
