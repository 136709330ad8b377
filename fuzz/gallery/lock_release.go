package gallery

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedLockRelease = []Exhibit{
	{
		Slug: "failed-release-forgotten", Alias: "B21",
		Title:  "a release that fails is forgotten",
		Source: Report, Link: "https://github.com/apache/curator/issues/1193",
		See: []string{"S0-6"},
		Bug: "Release drops the local ownership and then deletes the node. If that fails there is " +
			"nothing left to release again, while the node stays as long as the session, and " +
			"blocks the next acquire of its own client.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.leave = func() error {
				if l.own == "" {
					return nil
				}
				name := l.own
				l.own = "" // wrong: too early
				return l.conn.Delete(l.path(name), -1)
			}
		}),
	},
	{
		Slug: "lost-counts-as-held", Alias: "B38",
		Title:  "what was lost counts as held",
		Source: Report, Link: "https://github.com/hashicorp/consul/issues/4902",
		See: []string{"consul PR 4935"},
		Bug: "The lock is lost with its session. The handle still says that it is held, and " +
			"refuses to lock again; and as the lock is gone it refuses to unlock, too. The client " +
			"is out for good.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return &handle{naked: newNaked(env.Conn, lockDir)} }),
		Right:    openLock(func(env object.Env) object.Locker { return &handle{naked: newNaked(env.Conn, lockDir), forgets: true} }),
	},
	{
		Slug: "holder-not-told-of-expiry", Alias: "B51",
		Title:  "the holder is never told of the expiry",
		Source: Report, Link: "https://github.com/docker-archive/classicswarm/issues/2654",
		See: []string{"libkv PR 156", "B22 (CURATOR-206)", "G13"},
		Bug: "Lock returns a channel that is closed when the lock is lost. Nothing closes it when " +
			"the session expires, so a primary that has been replaced works on, for as long as it " +
			"likes.",
		Property: linearizability.Belief,
		Wrong:    openLock(func(env object.Env) object.Locker { return silent{newNaked(env.Conn, lockDir), make(chan struct{})} }),
		Right:    openLock(func(env object.Env) object.Locker { return recipes.NewLock(env.Conn, lockDir) }),
	},
	{
		Slug: "lost-unlock-kills-handle", Alias: "G8",
		Title:  "an unlock whose reply is lost kills the handle",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L150-L160",
		Bug: "The delete is applied and its reply lost. To unlock again fails with NoNode, for " +
			"ever, and to lock fails because the handle is locked: the lock is free, and this " +
			"client cannot have it.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return once{newNaked(env.Conn, lockDir)} }),
	},
	{
		Slug: "told-released-when-not", Alias: "S0-7",
		Title:  "released, says the listener",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L141-L147",
		Bug: "WriteLock.unlock tells its listener that the lock is released in a finally, whether " +
			"the delete has succeeded or not. The node may be there, and the lock is nobody's for " +
			"as long as the session lives.",
		Property: scenario.InvariantProperty,
		Wrong:    listenedOf(func(error) bool { return true }), // wrong: it may have failed
		Right:    listenedOf(func(err error) bool { return err == nil || errors.Is(err, zk.ErrNoNode) }),
	},
	{
		Slug: "owner-by-memory", Alias: "S0-14",
		Title:  "the owner remembers that it is",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L289-L291",
		Bug: "WriteLock.isOwner compares two texts that the object has kept. After the session has " +
			"ended it says yes as before, when the lock may be anybody's.",
		Property: scenario.InvariantProperty,
		// wrong: only the server knows
		Wrong: askingOf(func(l *naked) (bool, error) { return l.own != "", nil }),
		Right: askingOf(func(l *naked) (bool, error) {
			err := l.confirmOwner()
			if errors.Is(err, errGone) {
				return false, nil
			}
			return err == nil, err
		}),
	},
	{
		Slug: "release-without-finally", Alias: "S3-1",
		Title:  "work that fails keeps the lock",
		Source: Code, Link: "https://github.com/ATPP/zooKeeper/blob/499a3bb360eaacebe4d64c0ebb3a6edfb3a8329b/src/main/java/com/hom/curator/Start.java",
		See: []string{"S0-22"},
		Bug: "The sample acquires, works and releases, in this order and without a finally. When " +
			"the work fails its error leaves at once, and the lock stays as long as the session, " +
			"for whoever comes, the same client included.",
		Property: linearizability.Liveness,
		Wrong:    workUnderLock(false), // wrong: it is released only if all goes well
		Right:    workUnderLock(true),
	},
}

// handle knows whether it is held, and in which session.
type handle struct {
	*naked
	held    bool
	session int64
	forgets bool // forgets what is lost
}

var (
	errHeld    = errors.New("the lock is held already")
	errNotHeld = errors.New("the lock is not held")
)

func (h *handle) Lock(ctx context.Context) error {
	if h.held {
		return errHeld
	}
	if err := h.naked.Lock(ctx); err != nil {
		return err
	}
	h.held, h.session = true, h.conn.SessionID()
	return nil
}

func (h *handle) Unlock(ctx context.Context) error {
	if h.held && h.session != h.conn.SessionID() {
		h.held = !h.forgets // wrong: it stays held
		return errNotHeld
	}
	err := h.naked.Unlock(ctx)
	h.held = err != nil
	return err
}

// silent is a lock whose signal of loss never comes.
type silent struct {
	*naked
	lost chan struct{}
}

func (s silent) Lost() <-chan struct{} { return s.lost }

// once unlocks as the client's own lock does.
type once struct{ *naked }

func (l once) Lock(ctx context.Context) error {
	if l.own != "" {
		return zk.ErrDeadlock
	}
	return l.naked.Lock(ctx)
}

func (l once) Unlock(context.Context) error {
	if l.own == "" {
		return zk.ErrNotLocked
	}
	if err := l.conn.Delete(l.path(l.own), -1); err != nil {
		return err // wrong: NoNode is what was wanted
	}
	l.own = ""
	return nil
}

// kindReleased is what the listener hears. Its result has the token of the node.
const kindReleased = "released"

// listenedOf is a workload of a lock with a listener, which is told that it is released
// or not, depending on what became of the delete.
func listenedOf(tells func(deleted error) bool) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			l.leave = func() error {
				err := l.conn.Delete(l.path(l.own), -1)
				if tells(err) {
					_ = p.Do(kindReleased, "", func(context.Context) (linearizability.Result, error) {
						return linearizability.Result{Token: l.Token()}, nil
					})
					return nil
				}
				return err
			}
			playRound(p, l, "", round)
		}
	}
	return judgedBy(w, "what is told to be released has no node", releasedWithNode)
}

// releasedWithNode says whose listener was told of a release when the node was there.
func releasedWithNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		if op.Kind != kindReleased {
			continue
		}
		if step, removed := removedAt(e.History, op.Token); !removed || step > op.Call {
			return fmt.Errorf("%s's listener was told so at step %d, and the node was there", op.Client, op.Call)
		}
	}
	return nil
}

// kindIsOwner is the question whether one owns the lock. Its result has the token of
// the node by which one did.
const kindIsOwner = "is-owner"

// askingOf is a workload of a lock whose owners ask whether they are.
func askingOf(isOwner func(*naked) (bool, error)) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			for range 2 {
				p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 20)) * time.Millisecond)
				_ = p.Do(kindIsOwner, "", func(context.Context) (linearizability.Result, error) {
					is, err := isOwner(l)
					return linearizability.Result{Output: strconv.FormatBool(is), Token: l.Token()}, err
				})
			}
			playUnlock(p, l, "")
		}
	}
	return judgedBy(w, "who is told that it owns the lock has its node", ownerWithoutNode)
}

// ownerWithoutNode says who was told that it is the owner when its node was gone.
func ownerWithoutNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		if op.Kind != kindIsOwner || op.Output != strconv.FormatBool(true) {
			continue
		}
		if step, removed := removedAt(e.History, op.Token); removed && step < op.Call {
			return fmt.Errorf("%s was told so at step %d, and its node was gone since step %d", op.Client, op.Return, step)
		}
	}
	return nil
}

// workUnderLock is a workload of clients whose work is a request.
func workUnderLock(finally bool) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			if work(p.Conn()) == nil || finally {
				playUnlock(p, l, "")
			}
		}
	}
	return w
}

func work(conn *zk.Conn) error {
	_, _, err := conn.Exists(lockDir)
	return err
}
