package linearizability

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// actor is one client of a correct lock with random delays and faults.
type actor struct {
	name    string
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

// shooting makes valid histories of a fair lock.
type shooting struct {
	film
	t        *rapid.T
	actors   []*actor
	queue    []string // live znodes, oldest first
	sessions int64
	nodes    int
}

func newShooting(t *rapid.T) *shooting {
	s := &shooting{t: t}
	for _, name := range []string{"a", "b", "c"} {
		a := &actor{name: name, state: "idle"}
		s.renew(a)
		s.actors = append(s.actors, a)
	}
	return s
}

func (s *shooting) renew(a *actor) {
	s.sessions++
	a.session, a.expired = s.sessions, false
	s.starts(a.name, a.session)
}

func (s *shooting) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(s.t, "chance") < percent
}

// act lets one client do one thing. calm means: finish, and no more faults.
func (s *shooting) act(a *actor, calm bool) {
	s.step += 9 // room for mutations
	switch {
	case a.expired && (calm || s.chance(40)):
		s.learn(a)
	case a.expired && !a.decided && a.state != "holding" && a.state != "unlocking":
	case !a.expired && !calm && s.chance(8):
		s.expire(a)
	case a.left != "" && !a.expired:
		s.clean(a)
	case a.state == "idle" && !calm && !a.expired:
		a.op, a.state = s.call(a.name, KindLock, ""), "calling"
	case a.state == "calling":
		s.create(a)
	case a.state == "waiting":
		s.wait(a, calm)
	case a.state == "holding":
		a.op, a.state, a.applied = s.call(a.name, KindUnlock, ""), "unlocking", false
	case a.state == "unlocking":
		s.release(a)
	}
}

func (s *shooting) create(a *actor) {
	s.nodes++
	a.path, a.state, a.decided = node(a.name, s.nodes), "waiting", false
	a.token = s.creates(a.name, a.session, a.path, "", a.session)
	s.queue = append(s.queue, a.path)
}

func (s *shooting) wait(a *actor, calm bool) {
	switch {
	case a.decided:
		r := Result{Session: a.session, Token: a.token}
		s.ret(a.op, OpOK, r)
		a.state, a.decided = "holding", false
	case s.queue[0] == a.path:
		a.decided = true
	case !calm && s.chance(10): // gives up; the znode is cleaned up later
		s.ret(a.op, OpUnknown, Result{Session: a.session})
		a.state, a.left = "idle", a.path
	}
}

func (s *shooting) release(a *actor) {
	switch {
	case a.expired:
		s.ret(a.op, OpUnknown, Result{})
		a.state = "idle"
	case !a.applied && a.left == "" && s.chance(15): // the request is lost
		s.ret(a.op, OpUnknown, Result{})
		a.state, a.left = "idle", a.path
	case !a.applied:
		s.drop(a, a.path)
		a.applied = true
	default:
		outcome := rapid.SampledFrom([]Outcome{OpOK, OpUnknown}).Draw(s.t, "outcome")
		s.ret(a.op, outcome, Result{Session: a.session})
		a.state = "idle"
	}
}

func (s *shooting) clean(a *actor) {
	s.drop(a, a.left)
	a.left = ""
}

func (s *shooting) drop(a *actor, path string) {
	if i := slices.Index(s.queue, path); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.deletes(a.name, a.session, path, 1)
	}
}

func (s *shooting) expire(a *actor) {
	var gone []string
	s.queue = slices.DeleteFunc(s.queue, func(path string) bool {
		mine := path[len("/lock/"):len("/lock/")+1] == a.name
		if mine {
			gone = append(gone, path)
		}
		return mine
	})
	s.expires(a.session, gone...)
	a.expired, a.left = true, ""
}

// learn tells the client. What it held or decided is lost, and a wait starts
// again in the new session.
func (s *shooting) learn(a *actor) {
	s.told(a.name, SessionExpired)
	s.renew(a)
	a.decided = false
	switch a.state {
	case "waiting":
		a.state = "calling"
	case "holding":
		a.state = "idle"
	case "unlocking":
		s.ret(a.op, OpOK, Result{Session: a.session})
		a.state = "idle"
	}
}

func randomLock(t *rapid.T) History {
	s := newShooting(t)
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		s.act(rapid.SampledFrom(s.actors).Draw(t, "actor"), false)
	}
	for round, busy := 0, true; busy; round++ {
		if busy = false; round > 1000 {
			t.Fatalf("the lock of this test does not come to rest:\n%s", dump(s.history()))
		}
		for _, a := range s.actors {
			if a.state != "idle" || a.expired || a.left != "" {
				s.act(a, true)
				busy = true
			}
		}
	}
	return s.history()
}

var fairLock = LockOptions{Path: "/lock", Fair: true, MaxHerd: 1}

func TestCorrectLocksAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomLock(t)
		if r := JudgeLock(h, &Rest{}, fairLock); r.Status() != OK {
			t.Fatalf("%s\n%s", r, dump(h))
		}
		h.Server = nil
		for i := range h.Ops {
			h.Ops[i].Session = 0
		}
		if v, _ := JudgeLock(h, &Rest{}, LockOptions{}).Verdict(Safety); v.Status == Violated && !told(h) {
			t.Fatalf("without the log: %s\n%s", v, dump(h))
		}
	})
}

// told reports whether an expiry could make a lock look shared to somebody who
// has only the clients' word: it is known only from the end of the next call on.
func told(h History) bool { return len(h.Notices) > 0 }

func TestBrokenLocksAreFoundBroken(t *testing.T) {
	mutations := []struct {
		name   string
		mutate func(t *rapid.T, h *History, c *lockCase)
		bad    []string
	}{
		{"a second holder", addHolder, []string{Safety, Linearizability, Fencing}},
		{"tokens exchanged", swapTokens, []string{Safety, Fencing}},
		{"a release that never happened", dropDelete, []string{Safety, Linearizability}},
		{"a lock that never returns", neverReturn, []string{Liveness}},
		{"nobody woke up the right one", overtake, []string{Order}},
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				h := randomLock(t).sorted()
				m.mutate(t, &h, newLockCase(h, fairLock))
				r := JudgeLock(h, &Rest{}, fairLock)
				for _, property := range m.bad {
					if v, _ := r.Verdict(property); v.Status == Violated {
						return
					}
				}
				t.Fatalf("none of %v is violated:\n%s\n%s", m.bad, r, dump(h))
			})
		})
	}
}

// pick returns one of the holds that fit, or gives this history up.
func pick(t *rapid.T, c *lockCase, fits func(i int, h *hold) bool) *hold {
	var list []*hold
	for i, h := range c.holds {
		if fits(i, h) {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		t.Skip("nothing to break")
	}
	return rapid.SampledFrom(list).Draw(t, "hold")
}

func addHolder(t *rapid.T, h *History, c *lockCase) {
	a := pick(t, c, func(_ int, h *hold) bool { return h.lock.Return < h.serverEnd })
	step := a.lock.Return
	h.Server = append(h.Server, ServerEvent{Step: step + 2, Kind: NodeCreated, Path: node("z", 0), Session: 99, Owner: 99, Client: "z", Czxid: step + 2})
	h.Ops = append(h.Ops, Op{Client: "z", Kind: KindLock, Session: 99, Token: step + 2, Call: step + 1, Return: step + 3, Outcome: OpOK})
}

func swapTokens(t *rapid.T, h *History, c *lockCase) {
	a := pick(t, c, func(i int, _ *hold) bool { return i+1 < len(c.holds) })
	b := c.holds[slices.Index(c.holds, a)+1]
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.Token == 0:
		case op.Token == a.lock.Token:
			op.Token = b.lock.Token
		case op.Token == b.lock.Token:
			op.Token = a.lock.Token
		}
	}
}

func dropDelete(t *rapid.T, h *History, c *lockCase) {
	last := c.holds[max(0, len(c.holds)-1):]
	a := pick(t, c, func(_ int, h *hold) bool {
		end, _ := c.log.sessionEnd(h.owner.Session)
		return h.ending == released && h.owner != last[0].owner && last[0].lock.Return < min(end, last[0].serverEnd) && h.lock.Return < last[0].lock.Return
	})
	h.Server = slices.DeleteFunc(h.Server, func(e ServerEvent) bool { return e.Kind == NodeDeleted && e.Path == a.node.path })
}

func neverReturn(t *rapid.T, h *History, c *lockCase) {
	a := pick(t, c, func(_ int, _ *hold) bool { return true })
	for i := range h.Ops {
		if h.Ops[i].Call == a.lock.Call {
			h.Ops[i].Return, h.Ops[i].Outcome = -1, OpPending
		}
	}
}

// overtake lets somebody have waited, with an older znode, all the while a lock
// was granted.
func overtake(t *rapid.T, h *History, c *lockCase) {
	b := pick(t, c, func(_ int, h *hold) bool { return h.node != nil })
	born := b.node.born
	h.Server = append(h.Server, ServerEvent{Step: born - 1, Kind: NodeCreated, Path: node("z", 0), Session: 99, Owner: 99, Client: "z", Czxid: born - 1})
	h.Ops = append(h.Ops, Op{Client: "z", Kind: KindLock, Session: 99, Call: born - 2, Return: -1})
}
