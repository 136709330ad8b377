package gallery

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedLockOwnNode = []Exhibit{
	{
		Slug: "retries-used-up", Alias: "B12",
		Title:  "retries used up after a lost reply",
		Source: Report, Link: "https://github.com/apache/curator/issues/566",
		Bug: "The reply to the create is lost, and so is each retry that the policy grants. The " +
			"caller is told that nothing was acquired, but the node is there, and all later ones " +
			"wait behind it, those of the same client too.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.join = func() (err error) {
				if l.own != "" {
					return nil
				}
				l.prefix = l.naming()
				if err = l.create(); err == nil {
					return nil
				}
				if _, _, err = l.conn.Children(l.dir); err != nil {
					return err // wrong: the node may be there
				}
				return l.joinAgain()
			}
		}),
	},
	{
		Slug: "error-leaks-node", Alias: "B13",
		Title:  "an error after the create leaves the node",
		Source: Report, Link: "https://github.com/apache/curator/commit/a4ee4b589b15a8567f054345b50ec991c82a1e3c",
		See: []string{"G7", "S3-3", "zk-ruby issue 51"},
		Bug: "The node is there when the list of children, or the watch, fails for good. The error " +
			"goes to the caller and the node stays, so that everybody waits for it, the caller's " +
			"own next try first of all.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return leaky{newNaked(env.Conn, lockDir)} }),
	},
	{
		Slug: "interrupted-create", Alias: "B14",
		Title:  "interrupted while the create is under way",
		Source: Report, Link: "https://github.com/apache/curator/issues/600",
		See: []string{"B15 (CURATOR-62)"},
		Bug: "The caller is interrupted after the server has the request and before the reply is " +
			"there. It leaves with an error, and nobody knows of the node that is made.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return &hurried{conn: env.Conn} }),
		Right:    openLock(func(env object.Env) object.Locker { return &hurried{conn: env.Conn, careful: true} }),
	},
	{
		Slug: "dying-node-adopted", Alias: "B16",
		Title:  "the node of the dying session is adopted",
		Source: Report, Link: "https://github.com/apache/curator/issues/1018",
		See: []string{"G3"},
		Bug: "The reply to the create is lost and the session ends. The new session searches for " +
			"the GUID, finds the old session's node, which is about to be removed, and takes it " +
			"for its own: soon it owns nothing.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			var session int64
			l.join = func() error {
				if l.own != "" {
					return nil
				}
				err := l.joinOnce()
				session = l.conn.SessionID() // wrong: of who has found the node, not of the node
				return err
			}
			l.confirm = func() error {
				if session != l.conn.SessionID() {
					return errGone
				}
				return nil
			}
		}),
		Script: scenario.Script{Clients: 1, Rounds: 1},
	},
	{
		Slug: "dying-node-owns", Alias: "B17",
		Title:  "acquires through the previous session's node",
		Source: Report, Link: "https://github.com/apache/curator/issues/1121",
		Bug: "The session ends while the client waits, or just before it looks. Its node is still " +
			"listed, first of all, for the server has not cleaned up yet. The client owns the " +
			"lock by its name until that is removed.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
	},
	{
		Slug: "doubled-path-delete", Alias: "B19",
		Title:  "the guaranteed delete goes to the wrong path",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/5",
		Bug: "After a lost reply the node is found by its GUID, to be deleted. Its path gets the " +
			"namespace a second time. No node is there, which is as good as deleted, and the " +
			"client waits behind what it has left.",
		Property: linearizability.Liveness,
		// wrong: the directory twice
		Wrong: findAndDelete(func(l *naked) string { return l.dir + l.path(l.own) }),
		Right: findAndDelete(func(l *naked) string { return l.path(l.own) }),
	},
	{
		Slug: "vanished-parent", Alias: "B29",
		Title:  "the parent is gone",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#container-nodes",
		See: []string{"CURATOR-388", "CURATOR-724"},
		Bug: "The directory is a container, made when the recipe starts. The server removes it " +
			"after the last node in it, and from then on every create fails with NoNode: nobody " +
			"gets the lock any more.",
		Property: linearizability.Liveness,
		// wrong: it was made once, and is expected to stay
		Wrong:  idle(func(*inContainer) error { return zk.ErrNoNode }),
		Right:  idle((*inContainer).makeDir),
		Script: scenario.Script{Clients: 1, Rounds: 2},
	},
	{
		Slug: "create-repeated-blindly", Alias: "B34",
		Title:  "a create without a GUID is repeated",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/54",
		See: []string{"S0-13", "S2-1", "S2-4", "S4-26", "zk-ruby issue 54"},
		Bug: "The node's name has nothing by which its maker could find it again. After a lost " +
			"reply the create is repeated, and the client waits behind its own first node, which " +
			"nobody will delete.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.naming = func() string { return "z" + marker }
			l.find = func() (bool, error) { return false, nil } // wrong: it may be there
		}),
	},
	{
		Slug: "protected-create-fails-twice", Alias: "G1",
		Title:  "the Go client's protected create fails twice",
		Source: Report, Link: "https://github.com/samuel/go-zookeeper/pull/237",
		Bug: "CreateProtectedEphemeralSequential looks for its GUID after a lost reply. If that " +
			"fails, too, it returns an error, and the GUID to nobody: the node lives, and its own " +
			"client waits behind it.",
		Property: linearizability.Liveness,
		Wrong:    lockOf(joinByClient),
	},
	{
		Slug: "short-name-panics", Alias: "G2",
		Title:  "the Go client trips over a short name",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go#L1157",
		Bug: "The search for a GUID takes the 32 characters after _c_ from every child that begins " +
			"with it. One that ends earlier, whoever has made it, makes the client panic.",
		Property: "panic",
		Wrong:    beside(lockOf(joinByClient), shortNamed),
		Right:    beside(lockOf(nil), shortNamed),
	},
	{
		Slug: "granted-without-node", Alias: "G6",
		Title:  "granted without a node",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L106-L122",
		See: []string{"B36 (etcd issue 9921)"},
		Bug: "The lowest number of the list is sought beginning with the own one, and whether that " +
			"is in the list is not asked. If the session has ended meanwhile, and its node with " +
			"it, there is nothing lower: the lock is granted.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				before := ""
				for _, name := range queue {
					if bySequence(name, l.own) < 0 {
						before = name
					}
				}
				return before, nil // wrong: the own node may be gone
			}
		}),
	},
	{
		Slug: "one-node-for-two-locks", Alias: "S0-4",
		Title:  "two locks of one session share a node",
		Source: Report, Link: "https://github.com/projecteru2/core/pull/698",
		See: []string{"S2-3"},
		Bug: "A lock is named after its session, so that each session has one node. Two locks on " +
			"one connection find the same node: both own the lock, and the first to unlock takes " +
			"it from the other.",
		Property: linearizability.Safety,
		Wrong: twoLocks(func(l *naked) {
			l.naming = l.session
			l.join = func() error {
				l.prefix = l.naming()
				if found, err := l.find(); found || err != nil { // wrong: it may be another lock's
					return err
				}
				return l.joinOnce()
			}
		}),
		Right:  twoLocks(func(*naked) {}),
		Script: scenario.Script{Clients: 2, Rounds: 1},
	},
	{
		Slug: "name-outlives-node", Alias: "S0-5",
		Title:  "the id outlives its node",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L211-L256",
		Bug: "The node goes, here with its session, but the lock keeps the name. Nothing in the " +
			"list is before that name, and it is not the first either: the client does not own " +
			"the lock, sets no watch, and is never woken.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				below := ""
				for _, name := range queue {
					if bySequence(name, l.own) < 0 {
						below = name
					}
				}
				switch {
				case below != "":
					return below, nil
				case len(queue) > 0 && queue[0] == l.own:
					return "", l.confirm()
				}
				return nobody, nil // wrong: the own node is gone
			}
			l.await = func(ctx context.Context, ahead string) {
				if ahead == nobody {
					<-ctx.Done()
					return
				}
				l.awaitDeletion(ctx, ahead)
			}
		}),
	},
}

// joinAgain goes on where a try to join has failed.
func (l *naked) joinAgain() error {
	if found, err := l.find(); found || err != nil {
		return err
	}
	return l.joinOnce()
}

type leaky struct{ *naked }

func (l leaky) Lock(ctx context.Context) error {
	l.own = ""
	if err := l.join(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		if err != nil {
			return err // wrong: the node stays
		}
		if ahead == "" {
			return nil
		}
		l.await(ctx, ahead)
	}
	return l.giveUp(ctx)
}

// hurried is a lock that does not wait for its create when ctx is done.
type hurried struct {
	conn    *zk.Conn
	careful bool
	lock    *naked
}

func (h *hurried) Lock(ctx context.Context) error {
	l := newNaked(h.conn, lockDir)
	joined := make(chan error, 1)
	go func() { joined <- l.join() }()
	select {
	case err := <-joined:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		if !h.careful {
			return ctx.Err() // wrong: the node may be made yet
		}
		return errors.Join(<-joined, l.giveUp(ctx))
	}
	h.lock = l
	return l.Lock(ctx)
}

func (h *hurried) Unlock(ctx context.Context) error { return h.lock.Unlock(ctx) }

// findAndDelete is a lock that makes a new node after a lost reply, and deletes the
// one that it finds.
func findAndDelete(where func(*naked) string) scenario.Workload {
	return lockOf(func(l *naked) {
		l.find = func() (bool, error) {
			if found, err := l.findPrefix(); !found || err != nil {
				return false, err
			}
			err := l.remove(where(l))
			l.own = ""
			return false, err
		}
	})
}

// inContainer is a lock in a container.
type inContainer struct {
	*naked
	made  bool
	again func(*inContainer) error // when the container is missing
}

func (l *inContainer) makeDir() error {
	_, err := l.conn.CreateContainer(l.dir, nil, zk.FlagContainer, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	l.made = true
	return nil
}

func (l *inContainer) Lock(ctx context.Context) error {
	for !l.made {
		if err := l.makeDir(); err != nil {
			return err
		}
	}
	return l.naked.Lock(ctx)
}

// joinInside makes the own node, and the container if it is missing and that is done.
func (l *inContainer) joinInside() (err error) {
	if l.own != "" {
		return nil
	}
	l.prefix = l.naming()
	for range attempts {
		var made string
		made, err = l.conn.Create(l.path(l.prefix), nil, zk.FlagEphemeral|zk.FlagSequence, acl)
		if err == nil {
			l.own = path.Base(made)
			return nil
		}
		if errors.Is(err, zk.ErrNoNode) {
			if err := l.again(l); err != nil {
				return err
			}
			continue
		}
		if found, err := l.find(); found || err != nil {
			return err
		}
	}
	return err
}

// idle is a workload of a lock that nobody wants for a while after each round, so that
// an empty container is removed.
func idle(again func(*inContainer) error) scenario.Workload {
	w := openLock(nil)
	w.Nodes = nil
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := &inContainer{naked: newNaked(p.Conn(), lockDir), again: again}
		l.join = l.joinInside
		for round := range s.Rounds {
			playRound(p, l, "", round)
			p.Pause(idleTime)
		}
	}
	length := w.Length
	w.Length = func(s scenario.Script) time.Duration { return length(s) + time.Duration(s.Rounds)*idleTime }
	return w
}

// idleTime is longer than the server takes to remove an empty container.
const idleTime = 3 * time.Minute

// joinByClient makes the own node by the client's own function.
func joinByClient(l *naked) {
	l.join = func() error {
		if l.own != "" {
			return nil
		}
		made, err := l.conn.CreateProtectedEphemeralSequential(l.path(marker), nil, acl)
		if err == nil {
			l.own = path.Base(made)
		}
		return err
	}
}

// twoLocks is a workload of clients that want the lock twice, by two handles: as one
// place of a semaphore, so that a client excludes itself. Each waits a moment for the
// second.
func twoLocks(replace func(*naked)) scenario.Workload {
	handle := func(c *zk.Conn) *naked { return remade(c, lockDir, replace) }
	claims := object.SemaphoreClaims{LockClaims: claims, Leases: 1}
	w := beside(object.Semaphore(nil, claims).Named(""), lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			one, two := handle(p.Conn()), handle(p.Conn())
			if !p.Persist(func(int) error { return acquire(p, p.Context(), one, "one") }) {
				return
			}
			soon, cancel := context.WithTimeout(p.Context(), 50*time.Millisecond)
			if acquire(p, soon, two, "two") == nil {
				release(p, two, "two")
			}
			cancel()
			release(p, one, "one")
		}
	}
	return w
}

func acquire(p *scenario.Player, ctx context.Context, l *naked, which string) error {
	return p.Do(ops.Acquire, which, func(context.Context) (linearizability.Result, error) {
		err := l.Lock(ctx)
		return linearizability.Result{Token: l.Token()}, err
	})
}

func release(p *scenario.Player, l *naked, which string) {
	p.Attempt(3, func(int) error {
		return p.Do(ops.Release, which, func(ctx context.Context) (linearizability.Result, error) {
			return linearizability.Result{}, l.Unlock(ctx)
		})
	})
}

// nobody is whom those wait for who have set no watch.
const nobody = "nobody"
