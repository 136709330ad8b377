package gallery

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedLockOwnNode = []Exhibit{
	{Slug: "retries-used-up", Alias: "B12", Title: "retries used up after a lost reply",
		Source: Report, Link: "https://github.com/apache/curator/issues/566",
		Bug: "The reply to the create is lost, and so is each retry that the policy grants. The " +
			"caller gets an error, but the node is there. All later contenders wait behind it, " +
			"the next one of the same client too.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.join = l.once(func() error {
				l.prefix = l.naming()
				if l.create() == nil {
					return nil
				}
				if _, _, err := l.conn.Children(l.dir); err != nil {
					return err // wrong: the node may be there
				}
				if found, err := l.find(); found || err != nil {
					return err
				}
				return l.make()
			})
		})},
	{Slug: "error-leaks-node", Alias: "B13", Title: "an error after the create leaves the node",
		Source: Report, Link: "https://github.com/apache/curator/commit/a4ee4b589b15a8567f054345b50ec991c82a1e3c",
		See: []string{"G7", "S3-3", "zk-ruby issue 51", "curator-go/curator",
			"control-center/serviced", "Comcast/go-leaderelection"},
		Bug: "The node is there when the list of children, or the watch, fails for good. The " +
			"error goes to the caller and the node stays. All contenders wait for it, the " +
			"caller's next try first of all.",
		Property: liveness, Wrong: lockOf(leavesNodeOnError)},
	{Slug: "interrupted-create", Alias: "B14", Title: "interrupted while the create is under way",
		Source: Report, Link: "https://github.com/apache/curator/issues/600",
		See: []string{"B15 (CURATOR-62)"},
		Bug: "The caller is interrupted after the server has the request and before the reply is " +
			"there. It leaves with an error, and does not know of the node that is made.",
		Property: liveness, Wrong: impatientLock(func(<-chan error, *plainLock) error {
			return nil // wrong: the node may be made later
		}), Right: impatientLock(func(joined <-chan error, l *plainLock) error {
			return errors.Join(<-joined, l.leave())
		})},
	{Slug: "dying-node-owns", Alias: "B17", Title: "acquires through the previous session's node",
		Source: Report, Link: "https://github.com/apache/curator/issues/1121",
		Bug: "The session ends while the client waits, or just before it looks. Its node is " +
			"still listed, first of all, for the server has not cleaned up yet. The client owns " +
			"the lock by its name until that is removed.",
		Property: safety, Wrong: lockOf(ownsAnyNode)},
	{Slug: "doubled-path-delete", Alias: "B19",
		Title:  "the guaranteed delete goes to the wrong path",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/5",
		Bug: "After a lost reply the node is found by its GUID, to be deleted. Its path gets the " +
			"namespace a second time. No node is there, which is as good as deleted, and the " +
			"client waits behind the node that it has left.",
		Property: liveness,
		// wrong: the directory twice
		Wrong: findAndDelete(func(l *plainLock) string { return l.dir + l.path(l.own) }),
		Right: findAndDelete(func(l *plainLock) string { return l.path(l.own) })},
	{Slug: "vanished-parent", Alias: "B29", Title: "the parent is gone",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#container-nodes",
		See: []string{"CURATOR-388", "CURATOR-724"},
		Bug: "The directory is a container, made when the recipe starts. The server removes it " +
			"after the last node in it. From then on every create fails with NoNode: no client " +
			"gets the lock any more.",
		Property: liveness,
		// wrong: it was made once, and is expected to stay
		Wrong:  idle(func(l *inContainer) { l.makeDir = func() error { return zk.ErrNoNode } }),
		Right:  idle(func(l *inContainer) { l.makeDir = l.makeContainer }),
		Script: scenario.Script{Clients: 1, Rounds: 2}},
	{Slug: "create-repeated-blindly", Alias: "B34", Title: "a create without a GUID is repeated",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/54",
		See: []string{"S0-13", "S2-1", "S2-4", "S4-26", "zk-ruby issue 54"},
		Bug: "The node's name has nothing by which its maker could find it again. After a lost " +
			"reply the create is repeated. The client waits behind its own first node, which " +
			"stays.",
		Property: liveness, Wrong: lockOf(createsAgain, func(l *plainLock) {
			l.naming = func() string { return "z" + marker }
		})},
	{Slug: "protected-create-fails-twice", Alias: "G1",
		Title:  "the Go client's protected create fails twice",
		Source: Report, Link: "https://github.com/samuel/go-zookeeper/pull/237",
		Bug: "CreateProtectedEphemeralSequential looks for its GUID after a lost reply. If that " +
			"fails, too, it returns an error without the GUID: the node lives, and its own " +
			"client waits behind it.",
		Property: liveness, Wrong: lockOf(joinsByClient)},
	{Slug: "short-name-panics", Alias: "G2", Title: "the Go client trips over a short name",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go#L1157",
		Bug: "The search for a GUID takes the 32 characters after _c_ from every child that " +
			"begins with it. A child with a shorter name, of any origin, makes the client panic.",
		Property: "panic", Wrong: beside(lockOf(joinsByClient), shortNamed),
		Right: beside(lockOf(), shortNamed)},
	{Slug: "granted-without-node", Alias: "G6", Title: "granted without a node",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L106-L122",
		See: []string{"B36 (etcd issue 9921)"},
		Bug: "The search for a lower number begins with the own one, and does not check that the " +
			"own node is in the list. If the session has ended meanwhile, and its node with it, " +
			"there is nothing lower: the lock is granted.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				return last(queue, l.isBefore), nil // wrong: the own node may be gone
			}
		})},
	{Slug: "one-node-for-two-locks", Alias: "S0-4", Title: "two locks of one session share a node",
		Source: Report, Link: "https://github.com/projecteru2/core/pull/698", See: []string{"S2-3"},
		Bug: "A lock is named after its session, so that each session has one node. Two locks on " +
			"one connection find the same node: both own the lock, and the first to unlock takes " +
			"it from the other.",
		Property: safety, Wrong: twoLocks(func(l *plainLock) {
			join := l.join
			l.naming = l.session
			l.join = func() error {
				l.prefix = l.naming()
				if found, err := l.find(); found || err != nil { // wrong: it may be another lock's
					return err
				}
				return join()
			}
		}), Right: twoLocks(), Script: scenario.Script{Clients: 2, Rounds: 1}},
	{Slug: "name-outlives-node", Alias: "S0-5", Title: "the id outlives its node",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L211-L256",
		Bug: "The node goes, here with its session, but the lock keeps the name. Nothing in the " +
			"list is before that name, and it is not the first either: the client does not own " +
			"the lock, sets no watch, and is never woken.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			const unwatched = "unwatched"
			l.ahead = func(queue []string) (string, error) {
				if below := last(queue, l.isBefore); below != "" {
					return below, nil
				}
				if len(queue) > 0 && queue[0] == l.own {
					return "", l.confirm()
				}
				return unwatched, nil // wrong: the own node is gone
			}
			l.await = func(ctx context.Context, ahead string) bool {
				if ahead == unwatched {
					<-ctx.Done()
					return false
				}
				return l.awaitDeletion(ctx, ahead)
			}
		})},
}

// leavesNodeOnError returns the first error of a look, and does not delete the own node.
func leavesNodeOnError(l *plainLock) {
	l.fatal = func(error) bool {
		l.own = "" // wrong: the node stays
		return true
	}
}

// impatient is a lock that does not wait for its create when ctx is done.
type impatient struct {
	lock        *plainLock
	interrupted func(joined <-chan error, l *plainLock) error
}

func impatientLock(interrupted func(<-chan error, *plainLock) error) scenario.Workload {
	return openLock(func(l *plainLock) object.Locker { return &impatient{l, interrupted} })
}

func (i *impatient) Lock(ctx context.Context) error {
	l := newLock(i.lock.conn, lockDir)
	joined := make(chan error, 1)
	go func() { joined <- l.join() }()
	select {
	case err := <-joined:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.Join(ctx.Err(), i.interrupted(joined, l))
	}
	i.lock = l
	return l.Lock(ctx)
}

func (i *impatient) Unlock(ctx context.Context) error { return i.lock.Unlock(ctx) }

// findAndDelete is a lock that makes a new node after a lost reply, and deletes the one that it
// finds.
func findAndDelete(where func(*plainLock) string) scenario.Workload {
	return lockOf(func(l *plainLock) {
		l.find = func() (bool, error) {
			if found, err := l.findPrefix(); !found || err != nil {
				return false, err
			}
			err := remove(l.conn, where(l))
			l.own = ""
			return false, err
		}
	})
}

// inContainer is a lock in a container that it makes at its first call.
type inContainer struct {
	*plainLock
	made bool
}

func (l *inContainer) makeContainer() error {
	_, err := l.conn.CreateContainer(l.dir, nil, zk.FlagContainer, acl)
	err = ignore(err, zk.ErrNodeExists)
	l.made = l.made || err == nil
	return err
}

func (l *inContainer) Lock(ctx context.Context) error {
	if !l.made {
		if err := l.makeContainer(); err != nil {
			return err
		}
	}
	return l.plainLock.Lock(ctx)
}

// idle is a workload of a lock that is unused for a while after each round, so that the server
// removes the empty container.
func idle(step func(*inContainer)) scenario.Workload {
	const pause = 3 * time.Minute // longer than the server takes for that
	w := openLock(nil)
	w.Nodes = nil
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := &inContainer{plainLock: newLock(p.Conn(), lockDir)}
		step(l)
		for round := range p.Rounds(s.Rounds) {
			playRound(p, l, "", round)
			p.Pause(pause)
		}
	}
	length := w.Length
	w.Length = func(s scenario.Script) time.Duration {
		return length(s) + time.Duration(s.Rounds)*pause
	}
	return w
}

// joinsByClient makes the own node by the client's own function.
func joinsByClient(l *plainLock) {
	l.join = l.once(func() error {
		made, err := l.conn.CreateProtectedEphemeralSequential(l.path(marker), nil, acl)
		if err == nil {
			l.own = path.Base(made)
		}
		return err
	})
}

// twoLocks is a workload of clients that want the lock twice, by two handles: as one place of a
// semaphore, so that a client excludes itself. Each waits a moment for the second.
func twoLocks(steps ...func(*plainLock)) scenario.Workload {
	w := object.Semaphore(nil, object.SemaphoreClaims{LockClaims: claims, Leases: 1})
	return playing(beside(w, lockDir), func(p *scenario.Player, _ int) {
		one, two := newLock(p.Conn(), lockDir, steps...), newLock(p.Conn(), lockDir, steps...)
		if !playLock(p, one, ops.Acquire, "one") {
			return
		}
		soon, cancel := context.WithTimeout(p.Context(), 50*time.Millisecond)
		if lockOnce(soon, p, two, ops.Acquire, "two") == nil {
			playUnlock(p, two, ops.Release, "two")
		}
		cancel()
		playUnlock(p, one, ops.Release, "one")
	})
}
