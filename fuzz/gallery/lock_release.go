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
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedLockRelease = []Exhibit{
	{Slug: "failed-release-forgotten", Alias: "B21", Title: "a release that fails is forgotten",
		Source: Report, Link: "https://github.com/apache/curator/issues/1193",
		See: []string{"S0-6", "curator-go/curator"},
		Bug: "Release drops the local ownership and then deletes the node. If that fails there " +
			"is nothing left to release again, while the node stays as long as the session, and " +
			"blocks the next acquire of its own client.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.leave = func() error {
				if l.own == "" {
					return nil
				}
				return l.conn.Delete(l.path(l.forget()), -1) // wrong: forgotten too early
			}
		})},
	{Slug: "lost-counts-as-held", Alias: "B38", Title: "a lost lock counts as held",
		Source: Report, Link: "https://github.com/hashicorp/consul/issues/4902",
		See: []string{"consul PR 4935"},
		Bug: "The lock is lost with its session. The handle still says that it is held, and " +
			"refuses to lock again; and as the lock is gone it refuses to unlock, too. The " +
			"client is out for good.",
		Property: liveness,
		Wrong:    openLock(func(l *plainLock) object.Locker { return &handle{plainLock: l} }),
		Right: openLock(func(l *plainLock) object.Locker {
			return &handle{plainLock: l, dropsLost: true}
		})},
	{Slug: "holder-not-told-of-expiry", Alias: "B51",
		Title:  "the holder is never told of the expiry",
		Source: Report, Link: "https://github.com/docker-archive/classicswarm/issues/2654",
		See: []string{"libkv PR 156", "B22 (CURATOR-206)", "G13",
			"docker-archive/leadership issue 9"},
		Bug: "Lock returns a channel that is closed when the lock is lost. Nothing closes it " +
			"when the session expires, so a primary that has been replaced works on, for as long " +
			"as it likes.",
		Property: belief, Wrong: signalling(false), // wrong: the channel is never closed
		Right: openLock(func(l *plainLock) object.Locker {
			return recipes.NewLock(l.conn, lockDir)
		})},
	{Slug: "lost-unlock-kills-handle", Alias: "G8",
		Title:  "an unlock with a lost reply kills the handle",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L150-L160",
		See: []string{"control-center/serviced", "DataDog/kafka-kit"},
		Bug: "The delete is applied and its reply lost. To unlock again fails with NoNode, for " +
			"ever, and to lock fails because the handle is locked: the lock is free, and this " +
			"client cannot have it.",
		Property: liveness, Wrong: openLock(func(l *plainLock) object.Locker { return once{l} })},
	{Slug: "told-released-when-not", Alias: "S0-7", Title: "the listener hears of a failed release",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L141-L147",
		Bug: "WriteLock.unlock tells its listener in a finally that the lock is released, " +
			"whether the delete has succeeded or not. The node may be there, and the lock has no " +
			"owner for as long as the session lives.",
		Property: invariant,
		Wrong:    listenedOf(func(error) bool { return true }), // wrong: it may have failed
		Right:    listenedOf(func(err error) bool { return ignore(err, zk.ErrNoNode) == nil })},
	{Slug: "owner-by-memory", Alias: "S0-14", Title: "the owner remembers that it is",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L289-L291",
		Bug: "WriteLock.isOwner compares two texts that the object has kept. After the session " +
			"has ended it says yes as before, although another client may own the lock.",
		Property: invariant,
		// wrong: only the server knows
		Wrong: askingOf(func(l *plainLock) (bool, error) { return l.own != "", nil }),
		Right: askingOf(func(l *plainLock) (bool, error) {
			err := l.confirmOwner()
			return err == nil, ignore(err, errGone)
		})},
	{Slug: "release-without-finally", Alias: "S3-1", Title: "work that fails keeps the lock",
		Source: Code, Link: "https://github.com/ATPP/zooKeeper/blob/499a3bb360eaacebe4d64c0ebb3a6edfb3a8329b/src/main/java/com/hom/curator/Start.java",
		See: []string{"S0-22"},
		Bug: "The sample acquires, works and releases, in this order and without a finally. When " +
			"the work fails its error leaves at once. The lock stays as long as the session, and " +
			"keeps out all clients, its own included.",
		Property: liveness, Wrong: workUnderLock(false), // wrong: released only after success
		Right: workUnderLock(true)},
}

// handle knows whether it is held, and in which session.
type handle struct {
	*plainLock
	held      bool
	session   int64
	dropsLost bool // drops a lost lock
}

var (
	errHeld    = errors.New("the lock is held already")
	errNotHeld = errors.New("the lock is not held")
)

func (h *handle) Lock(ctx context.Context) error {
	if h.held {
		return errHeld
	}
	err := h.plainLock.Lock(ctx)
	h.held, h.session = err == nil, h.conn.SessionID()
	return err
}

func (h *handle) Unlock(ctx context.Context) error {
	if h.held && h.session != h.conn.SessionID() {
		h.held = !h.dropsLost // wrong: it stays held
		return errNotHeld
	}
	err := h.plainLock.Unlock(ctx)
	h.held = err != nil
	return err
}

// signalling is a workload of a lock with a signal of loss that is always given, or never.
func signalling(always bool) scenario.Workload {
	return openLock(func(l *plainLock) object.Locker { return lockWithSignal{l, signal(always)} })
}

// signal is a channel that is closed if the signal is given.
func signal(given bool) chan struct{} {
	c := make(chan struct{})
	if given {
		close(c)
	}
	return c
}

type lockWithSignal struct {
	*plainLock
	lost chan struct{}
}

func (l lockWithSignal) Lost() <-chan struct{} { return l.lost }

// once unlocks as the client's own lock does.
type once struct{ *plainLock }

func (l once) Lock(ctx context.Context) error {
	if l.own != "" {
		return zk.ErrDeadlock
	}
	return l.plainLock.Lock(ctx)
}

func (l once) Unlock(context.Context) error {
	if l.own == "" {
		return zk.ErrNotLocked
	}
	err := l.conn.Delete(l.path(l.own), -1)
	if err == nil { // wrong: NoNode is as good
		l.own = ""
	}
	return err
}

// kindReleased is the call of a listener. Its result has the token of the node.
const kindReleased = "released"

// listenedOf is a workload of a lock with a listener. The listener is told that the lock is
// released, depending on the error of the delete.
func listenedOf(tells func(deleted error) bool) scenario.Workload {
	return judgedBy(playing(openLock(nil), func(p *scenario.Player, round int) {
		l := newLock(p.Conn(), lockDir)
		l.leave = func() error {
			err := l.conn.Delete(l.path(l.own), -1)
			if !tells(err) {
				return err
			}
			_ = p.Do(kindReleased, "", func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{Token: l.Token()}, nil
			})
			return nil
		}
		playRound(p, l, "", round)
	}), "what is told to be released has no node", releasedWithNode)
}

// releasedWithNode finds a listener that was told of a release while the node was there.
func releasedWithNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		step, removed := removedAt(e.History, op.Token)
		if op.Kind == kindReleased && (!removed || step > op.Call) {
			return fmt.Errorf("%s's listener was told so at step %d, and the node was there",
				op.Client, op.Call)
		}
	}
	return nil
}

// kindIsOwner asks whether the client owns the lock. Its result has the token of the client's node.
const kindIsOwner = "is-owner"

// askingOf is a workload of a lock with owners that ask whether they are.
func askingOf(isOwner func(*plainLock) (bool, error)) scenario.Workload {
	return judgedBy(playing(openLock(nil), func(p *scenario.Player, round int) {
		l := newLock(p.Conn(), lockDir)
		if !playLock(p, l, ops.Lock, "") {
			return
		}
		for range 2 {
			p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 20)) * time.Millisecond)
			_ = p.Do(kindIsOwner, "", func(context.Context) (linearizability.Result, error) {
				is, err := isOwner(l)
				return linearizability.Result{Output: strconv.FormatBool(is), Token: l.Token()}, err
			})
		}
		playUnlock(p, l, ops.Unlock, "")
	}), "who is told that it owns the lock has its node", ownerWithoutNode)
}

// ownerWithoutNode finds a client that was told that it is the owner after its node was gone.
func ownerWithoutNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		told := op.Kind == kindIsOwner && op.Output == strconv.FormatBool(true)
		if step, removed := removedAt(e.History, op.Token); told && removed && step < op.Call {
			return fmt.Errorf("%s was told so at step %d, and its node was gone since step %d",
				op.Client, op.Return, step)
		}
	}
	return nil
}

// workUnderLock is a workload of clients that send one request under the lock.
func workUnderLock(finally bool) scenario.Workload {
	return playing(openLock(nil), func(p *scenario.Player, _ int) {
		l := newLock(p.Conn(), lockDir)
		if !playLock(p, l, ops.Lock, "") {
			return
		}
		if _, _, err := l.conn.Exists(lockDir); err == nil || finally {
			playUnlock(p, l, ops.Unlock, "")
		}
	})
}
