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
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedLockQueue = []Exhibit{
	{
		Slug: "consumer-deletes-anothers-lock", Alias: "B87",
		Title:  "the consumer that deletes another's lock",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/queue/DistributedQueue.java#L608-L650",
		Bug: "A consumer locks an element by an ephemeral, and deletes that by its name when it is " +
			"done. Its session may have ended meanwhile: then the lock is another's, who works on " +
			"the same element.",
		Property: linearizability.Safety,
		Wrong:    lockQueueOf(nil),
		Script:   scenario.Script{Clients: 4, Rounds: 3},
	},
}

var plantedLockQueues = []Exhibit{
	{
		Title: "does not lock", Property: linearizability.Safety,
		Wrong: lockQueueOf(func(q *lockingLine) { q.noLock = true }),
	},
	{
		Title: "takes any lock for its own", Property: linearizability.Safety,
		Wrong: lockQueueOf(func(q *lockingLine) { q.anybodys = true }),
	},
	{
		Title: "locks for ever", Property: linearizability.Orphans,
		Wrong: lockQueueOf(func(q *lockingLine) { q.flags = 0 }),
	},
	{
		Title: "takes the youngest first", Property: linearizability.Order,
		Wrong: lockQueueOf(func(q *lockingLine) {
			q.order = func(a, b string) int { return strings.Compare(b, a) }
		}),
	},
	{
		Title: "removes what it delivers", Property: linearizability.Delivery,
		Wrong: lockQueueOf(func(q *lockingLine) { q.removesFirst = true }),
	},
	{
		Title: "keeps what is done", Property: linearizability.Delivery,
		Wrong: lockQueueOf(func(q *lockingLine) { q.keeps = true }),
	},
	{
		Title: "waits for no lock", Property: linearizability.Liveness,
		Wrong: lockQueueOf(func(q *lockingLine) {
			q.await = func(ctx context.Context, _ <-chan zk.Event) error {
				return awaitChange(ctx, after(time.Minute))
			}
		}),
	},
	{
		Title: "acknowledges what was redelivered", Property: linearizability.Delivery,
		Wrong: lockQueueOf(nil),
	},
}

// lockNode is the lock of an element.
func lockNode(item string) string { return item + lockSuffix }

const lockSuffix = "-lock"

// lockingLine is a queue whose elements are locked while a consumer works on them. It
// deletes locks by their names, so that it is wrong as it is.
type lockingLine struct {
	*line
	flags        int32 // of locks
	noLock       bool  // does not lock
	anybodys     bool  // takes any lock for its own
	removesFirst bool  // removes an element when it delivers it
	keeps        bool  // acknowledges without removing
}

// lockQueueOf is a workload of it with something else wrong, nil for nothing.
func lockQueueOf(replace func(*lockingLine)) scenario.Workload {
	return beside(object.LockQueue(func(env object.Env) object.LockQueuer {
		q := &lockingLine{line: newLine(env.Conn, nil), flags: zk.FlagEphemeral}
		q.order = strings.Compare
		if replace != nil {
			replace(q)
		}
		return q
	}, object.LockQueueClaims{Lock: lockNode}).Named(""), queueDir)
}

func (q *lockingLine) Take(ctx context.Context) (object.Delivery, error) {
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

func (q *lockingLine) isLocked(name string, names []string) bool {
	return !q.noLock && slices.Contains(names, lockNode(name))
}

// lock locks an element and reads it.
func (q *lockingLine) lock(item string) (object.Delivery, error) {
	if !q.noLock {
		_, err := q.conn.Create(lockNode(item), nil, q.flags, acl)
		if errors.Is(err, zk.ErrNodeExists) && !q.anybodys {
			return nil, errGone
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
	}
	data, _, err := q.conn.Get(item)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, errors.Join(errGone, gone(q.conn.Delete(lockNode(item), -1)))
	}
	if err == nil && q.removesFirst {
		err = q.conn.Delete(item, -1)
	}
	if err != nil {
		return nil, err
	}
	return &lockedItem{q, item, data}, nil
}

// gone leaves it out that something is.
func gone(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// lockedItem is an element that was locked.
type lockedItem struct {
	q    *lockingLine
	path string
	data []byte
}

func (i *lockedItem) Data() []byte { return i.data }

func (i *lockedItem) Ack(ctx context.Context) error {
	if !i.q.keeps {
		if err := gone(i.q.conn.Delete(i.path, -1)); err != nil {
			return errors.Join(recipes.ErrAmbiguous, err)
		}
	}
	return i.Release(ctx)
}

func (i *lockedItem) Release(context.Context) error {
	if err := gone(i.q.conn.Delete(lockNode(i.path), -1)); err != nil { // wrong: it may be another's
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return nil
}
