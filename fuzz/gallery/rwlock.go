package gallery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes/classic"
)

var publishedRwlock = []Exhibit{
	{Slug: "own-index-unchecked", Alias: "B23", Title: "a reader that is not in the list",
		Source: Report, Link: "https://github.com/apache/curator/issues/732",
		See: []string{"CURATOR-307", "zk-ruby issue 55"},
		Bug: "The session ends between the reader's create and its list. Its place stays at the " +
			"largest number there is, which the check for a missing node lets pass. So does the " +
			"place of the first writer if there is none: the reader looks for its writer beyond " +
			"the end of the list.",
		Property: "panic", Wrong: readWriteOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if !reads(l.own) {
					return l.conflicting(queue)
				}
				own, writer := math.MaxInt, math.MaxInt
				for i, name := range queue {
					if !reads(name) {
						writer = min(writer, i)
					} else if name == l.own {
						own = i
						break
					}
				}
				if own < 0 { // wrong: it never is
					return "", errGone
				}
				if own < writer {
					return "", l.confirm()
				}
				return queue[writer], nil
			}
		})},
	{Slug: "waits-for-one-reader", Alias: "S1-3", Title: "a writer waits for one reader of two",
		Source: Code, Link: "https://github.com/code4wt/distributed_lock/blob/474a555d9b02adfa914aba1afa122b794a349b6a/src/main/java/com/titizz/exercise/distributedlock/ZKReadWriteLock2.java#L231-L234",
		Bug: "The writer waits for the reader right before it, and writes when that has left. An " +
			"older reader reads on: reading is shared, so they do not leave in the order in " +
			"which they came.",
		Property: safety, Wrong: readWriteOf(func(l *plainLock) {
			waited := ""
			l.ahead = func(queue []string) (ahead string, err error) {
				if waited != "" && !slices.Contains(queue, waited) &&
					slices.Contains(queue, l.own) {
					return "", l.confirm() // wrong: there may be others
				}
				waited, err = l.conflicting(queue)
				return waited, err
			}
		})},
	{Slug: "both-upgrade", Alias: "S4-40", Title: "a reader may write",
		Source: Text, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/InterProcessReadWriteLock.java#L44-L54",
		Bug: "The lock is re-entrant: a client that holds it for reading gets it for writing at " +
			"once, as it holds it already. Two readers both write.",
		Property: invariant, Wrong: upgradeOf(func(_ *scenario.Player, read *plainLock) tokenLock {
			return held{read} // wrong: others may read, too
		}), Right: upgradeOf(func(p *scenario.Player, read *plainLock) tokenLock {
			playUnlock(p, read, ops.Unlock, ops.ReadMode)
			return newReadWrite(p.Conn(), ops.WriteMode)
		})},
	{Slug: "rwlock-without-node", Title: "a read-write lock is granted without a node",
		Source: Code, Link: "https://github.com/control-center/serviced/blob/25e47af56adb1421754b4cf112fb7d299afa19a7/coordinator/client/zookeeper/rwlock.go#L112-L151",
		Bug: "A contender searches the list for nodes that exclude its own and are before it, " +
			"and does not look whether its own is there. When its session ends, in the create " +
			"or while it waits, its node goes, and nothing older is left: the lock is granted.",
		Property: safety, Wrong: readWriteOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				return last(queue, func(name string) bool {
					return l.isBefore(name) && (!reads(name) || !reads(l.own))
				}), nil // wrong: the own node may be gone
			}
		})},
}

var plantedRwlock = []Exhibit{
	planted("readers wait for nobody", safety, readWriteOf(func(l *plainLock) {
		l.ahead = func(queue []string) (string, error) {
			if reads(l.own) {
				return "", l.confirm()
			}
			return l.conflicting(queue)
		}
	})),
	planted("writers wait for writers only", safety, readWriteOf(func(l *plainLock) {
		l.contender = func(name string) bool {
			return !reads(name) || name == l.own || reads(l.own)
		}
	})),
	planted("every waiter that is woken owns the lock", safety, readWriteOf(ownsWhenWoken)),
	planted("readers pass waiting writers", order, readWriteOf(func(l *plainLock) {
		l.ahead = func(queue []string) (string, error) {
			if reads(l.own) && len(queue) > 0 && reads(queue[0]) {
				return "", l.confirm()
			}
			return l.conflicting(queue)
		}
	})),
	planted("all wait for the oldest node", herd, readWriteOf(awaitsFirst)),
	planted("a writer that reads on stands at the end of the queue", safety,
		bothModesOf(func(l *bothModes) { l.tail = true })),
	planted("the first unlock of two gives the lock up", safety, bothModesOf(func(l *bothModes) {
		l.read.left = func(int) int { return 0 }
		l.write.left = l.read.left
	})),
}

var plantedVersionLocks = []Exhibit{
	planted("looks and then enters", safety, versionLockOf(
		func(*zk.Conn) int32 { return -1 })),
	planted("reads the version after it has looked", safety, versionLockOf(
		func(conn *zk.Conn) int32 {
			_, stat, err := conn.Get(lockDir)
			if err != nil {
				return -1
			}
			return stat.Version
		})),
}

func reads(name string) bool { return strings.HasPrefix(name, ops.ReadMode+"-") }

// bothModes is a read-write lock with a plain lock for each mode. A holder may lock again, and a
// writer may go on as a reader.
type bothModes struct {
	read, write *nested
	tail        bool // the reader's node of a writer is the youngest
}

// readWriteOf is a workload of a read-write lock with some steps replaced.
func readWriteOf(steps ...func(*plainLock)) scenario.Workload {
	return bothModesOf(func(l *bothModes) {
		with(l.read.plainLock, steps)
		with(l.write.plainLock, steps)
	})
}

func bothModesOf(step func(*bothModes)) scenario.Workload {
	claims := oneWaiterWoken
	claims.Fair = true
	return beside(object.RWLock(func(env object.Env) object.RWLocker {
		l := &bothModes{
			read:  newNested(newReadWrite(env.Conn, ops.ReadMode)),
			write: newNested(newReadWrite(env.Conn, ops.WriteMode)),
		}
		step(l)
		return l
	}, claims), lockDir)
}

func (l *bothModes) Lock(ctx context.Context) error    { return l.write.Lock(ctx) }
func (l *bothModes) Unlock(ctx context.Context) error  { return l.write.Unlock(ctx) }
func (l *bothModes) RUnlock(ctx context.Context) error { return l.read.Unlock(ctx) }
func (l *bothModes) Token() int64                      { return l.write.token }
func (l *bothModes) RToken() int64                     { return l.read.token }

func (l *bothModes) RLock(ctx context.Context) error {
	if l.write.depth > 0 {
		return l.read.enter(ctx, l.besides)
	}
	return l.read.Lock(ctx)
}

// besides makes a writer a reader, too. Its reader's node has the number of its writer's, so that
// it is ahead of all waiters.
func (l *bothModes) besides(context.Context) error {
	if l.tail {
		return errors.Join(l.read.join(), l.read.confirmOwner())
	}
	l.read.own = l.read.naming() + numberText(l.write.own)
	_, err := l.read.conn.Create(l.read.path(l.read.own), nil, zk.FlagEphemeral, acl)
	if err == nil {
		err = l.write.confirmOwner()
	}
	if err != nil {
		return errors.Join(err, l.read.leave())
	}
	l.read.token = l.write.token
	return nil
}

// newReadWrite is a plain read-write lock in one mode.
func newReadWrite(conn *zk.Conn, mode string) *plainLock {
	l := newLock(conn, lockDir)
	l.naming = func() string { return fmt.Sprintf("%s-%s", mode, l.guid()) }
	l.ahead = l.conflicting
	return l
}

// conflicting is the nearest node before the own one that excludes it: a writer's, or any if the
// own one is a writer's.
func (l *plainLock) conflicting(queue []string) (string, error) {
	own := slices.Index(queue, l.own)
	if own < 0 {
		return "", errGone
	}
	excludes := func(name string) bool { return !reads(name) || !reads(l.own) }
	return l.orConfirm(last(queue[:own], excludes))
}

// upgradeOf is a workload of clients that read, and then want to write; upgrade makes the lock for
// writing of the one for reading.
func upgradeOf(upgrade func(p *scenario.Player, read *plainLock) tokenLock) scenario.Workload {
	return judgedBy(playing(readWriteOf(), func(p *scenario.Player, round int) {
		read := newReadWrite(p.Conn(), ops.ReadMode)
		if !playLock(p, read, ops.Lock, ops.ReadMode) {
			return
		}
		playRound(p, upgrade(p, read), ops.WriteMode, round)
		if read.own != "" {
			playUnlock(p, read, ops.Unlock, ops.ReadMode)
		}
	}), "one writes at a time", func(e scenario.Evidence) error {
		return overlappingHolds(e.History, func(op linearizability.Op) bool {
			return op.Kind == ops.Lock && op.Input == ops.WriteMode
		}, func(op linearizability.Op) bool {
			return op.Kind == ops.Unlock && op.Input == ops.WriteMode
		})
	})
}

// held is a lock that its owner locks once more.
type held struct{ *plainLock }

func (held) Lock(context.Context) error   { return nil }
func (held) Unlock(context.Context) error { return nil }

// versionLockOf is a workload of the version lock of package recipes. A contender enters if the
// node has a certain version. The right one is that before its look at the children.
func versionLockOf(version func(*zk.Conn) int32) scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return classic.NewVersionRWLock(otherVersion{env.Conn, version}, lockDir)
	}, claims)
}

// otherVersion is a connection that enters by another version.
type otherVersion struct {
	*zk.Conn
	version func(*zk.Conn) int32
}

func (c otherVersion) Multi(requests ...any) ([]zk.MultiResponse, error) {
	for _, request := range requests {
		if set, ok := request.(*zk.SetDataRequest); ok {
			set.Version = c.version(c.Conn)
		}
	}
	return c.Conn.Multi(requests...)
}
