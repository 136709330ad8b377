package gallery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var publishedLockQueue = []Exhibit{
	{Slug: "consumer-deletes-anothers-lock", Alias: "B87",
		Title:  "the consumer that deletes another's lock",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/queue/DistributedQueue.java#L608-L650",
		Bug: "A consumer locks an element by an ephemeral, and deletes that by its name when it " +
			"is done. Its session may have ended meanwhile: then another consumer has the lock " +
			"and works on the same element.",
		Property: safety, Wrong: lockQueueOf(lockQueue{}),
		Script: scenario.Script{Clients: 4, Rounds: 3}},
}

var plantedLockQueues = []Exhibit{
	planted("does not lock", safety, lockQueueOf(lockQueue{noLock: true})),
	planted("takes any lock for its own", safety, lockQueueOf(lockQueue{takesAnyLock: true})),
	planted("locks for ever", orphans, lockQueueOf(lockQueue{permanentLocks: true})),
	planted("takes the youngest first", order, lockQueueOf(lockQueue{}, func(q *plainQueue) {
		q.order = func(a, b string) int { return strings.Compare(b, a) }
	})),
	planted("removes what it delivers", delivery, lockQueueOf(lockQueue{removesFirst: true})),
	planted("keeps what is done", delivery, lockQueueOf(lockQueue{keeps: true})),
	planted("waits for no lock", liveness, lockQueueOf(lockQueue{}, func(q *plainQueue) {
		q.await = func(ctx context.Context, _ <-chan zk.Event) error {
			return awaitChange(ctx, after(time.Minute))
		}
	})),
	planted("acknowledges what was redelivered", delivery, lockQueueOf(lockQueue{})),
}

// lockNode is the lock of an element.
func lockNode(item string) string { return item + lockSuffix }

const lockSuffix = "-lock"

// lockQueue is a queue with a lock for each element that a consumer works on. It deletes locks by
// their names, so that it is wrong as it is.
type lockQueue struct {
	*plainQueue
	noLock         bool // does not lock
	permanentLocks bool // a lock outlives its session
	takesAnyLock   bool // takes any lock for its own
	removesFirst   bool // removes an element when it delivers it
	keeps          bool // acknowledges without removing
}

// lockQueueOf is a workload of it with more defects.
func lockQueueOf(bad lockQueue, steps ...func(*plainQueue)) scenario.Workload {
	return beside(object.LockQueue(func(env object.Env) object.LockQueuer {
		q := bad
		q.plainQueue = newQueue(env.Conn)
		q.order = strings.Compare
		with(q.plainQueue, steps)
		return &q
	}, object.LockQueueClaims{Lock: lockNode}), queueDir)
}

func (q *lockQueue) Take(ctx context.Context) (object.Delivery, error) {
	for {
		names, _, change, err := q.conn.ChildrenW(queueDir)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(names, q.order)
		for _, name := range names {
			if strings.HasSuffix(name, lockSuffix) || q.isLocked(name, names) {
				continue
			}
			if d, err := q.lock(queueDir + "/" + name); !errors.Is(err, errGone) {
				return d, err
			}
		}
		if err := q.await(ctx, change); err != nil {
			return nil, err
		}
	}
}

func (q *lockQueue) isLocked(name string, names []string) bool {
	return !q.noLock && slices.Contains(names, lockNode(name))
}

// lock locks an element and reads it.
func (q *lockQueue) lock(item string) (object.Delivery, error) {
	if !q.noLock {
		flags := int32(zk.FlagEphemeral)
		if q.permanentLocks {
			flags = 0
		}
		_, err := q.conn.Create(lockNode(item), nil, flags, acl)
		if errors.Is(err, zk.ErrNodeExists) && !q.takesAnyLock {
			return nil, errGone
		}
		if ignore(err, zk.ErrNodeExists) != nil {
			return nil, err
		}
	}
	data, _, err := q.conn.Get(item)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, errors.Join(errGone, q.unlock(item))
	}
	if err == nil && q.removesFirst {
		err = q.conn.Delete(item, -1)
	}
	if err != nil {
		return nil, err
	}
	return &lockedItem{q, item, data}, nil
}

// lockedItem is an element that was locked.
type lockedItem struct {
	q    *lockQueue
	path string
	data []byte
}

func (i *lockedItem) Data() []byte { return i.data }

func (i *lockedItem) Ack(ctx context.Context) error {
	if !i.q.keeps {
		if err := ignore(i.q.conn.Delete(i.path, -1), zk.ErrNoNode); err != nil {
			return errors.Join(recipes.ErrAmbiguous, err)
		}
	}
	return i.Release(ctx)
}

func (i *lockedItem) Release(context.Context) error {
	if err := i.q.unlock(i.path); err != nil {
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return nil
}

func (q *lockQueue) unlock(item string) error {
	return ignore(q.conn.Delete(lockNode(item), -1), zk.ErrNoNode) // wrong: it may be another's
}
