package museum

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func lockedByName() Exhibit {
	return Exhibit{
		ID: "B87", Title: "the consumer that deletes another's lock",
		Report: "https://github.com/python-zk/kazoo/blob/master/kazoo/recipe/queue.py",
		Bug: "A consumer locks an element by an ephemeral, and deletes that by its name when it is done. Its session may have " +
			"ended meanwhile: then the lock is another's, who works on the same element.",
		Property: linearizability.Safety,
		Wrong: beside(object.LockQueue(func(env object.Env) object.LockQueuer {
			return &lockingLine{line{conn: env.Conn}}
		}, object.LockQueueClaims{Lock: lockNode}).Named(""), queueDir),
		Right:  builtIn("lock-queue", "recipes.LockQueue"),
		Script: scenario.Script{Clients: 4, Rounds: 3},
	}
}

// lockNode is the lock of an element.
func lockNode(item string) string { return item + lockSuffix }

const lockSuffix = "-lock"

// lockingLine is a queue whose elements are locked while a consumer works on them.
type lockingLine struct{ line }

func (q *lockingLine) Offer(_ context.Context, data []byte) error { return q.addOnce(data) }

func (q *lockingLine) Take(ctx context.Context) (object.Delivery, error) {
	for {
		names, _, change, err := q.conn.ChildrenW(queueDir)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			if strings.HasSuffix(name, lockSuffix) || slices.Contains(names, lockNode(name)) {
				continue
			}
			if d, err := q.lock(queueDir + "/" + name); !errors.Is(err, errGone) {
				return d, err
			}
		}
		if err := awaitChange(ctx, change); err != nil {
			return nil, err
		}
	}
}

// lock locks an element and reads it.
func (q *lockingLine) lock(item string) (object.Delivery, error) {
	_, err := q.conn.Create(lockNode(item), nil, zk.FlagEphemeral, acl)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	data, _, err := q.conn.Get(item)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, errors.Join(errGone, gone(q.conn.Delete(lockNode(item), -1)))
	}
	if err != nil {
		return nil, err
	}
	return &lockedItem{q.conn, item, data}, nil
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
	conn *zk.Conn
	path string
	data []byte
}

func (i *lockedItem) Data() []byte { return i.data }

func (i *lockedItem) Ack(ctx context.Context) error {
	if err := gone(i.conn.Delete(i.path, -1)); err != nil {
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return i.Release(ctx)
}

func (i *lockedItem) Release(context.Context) error {
	if err := gone(i.conn.Delete(lockNode(i.path), -1)); err != nil { // wrong: it may be another's
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return nil
}
