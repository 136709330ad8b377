package gallery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/recipes"
)

// The exhibits below bear the loss of any request, but not a second accident at its retry.

var retryingLock = Exhibit{
	Title: "looks for its node three times", Property: liveness,
	Wrong: lockOf(func(l *plainLock) {
		l.find = func() (found bool, err error) {
			for range 3 { // wrong: an outage takes longer
				if found, err = l.findOnce(); err == nil {
					break
				}
			}
			return found, err
		}
	}),
}

var retryingSingles = []Exhibit{
	planted("tells holds apart by one bit", safety, singleOf(func(l *single) {
		l.leave = func() error {
			_, stat, err := l.conn.Get(singlePath)
			if err != nil || !l.ownedBySession(false, nil, stat) {
				return ignore(err, zk.ErrNoNode)
			}
			hold, err := l.number()
			if err != nil {
				return err
			}
			return repeat(func() error { return l.leaveHold(hold) })
		}
	})),
}

var retryingQueue = Exhibit{
	Title: "marks its elements with its session", Property: delivery,
	Wrong: beside(object.Queue(func(env object.Env) object.Queuer {
		name := newLock(env.Conn, lockDir).guid()
		return &markedQueue{Queue: recipes.NewQueue(env.Conn, queueDir), conn: env.Conn, name: name}
	}, object.QueueClaims{
		Items:        itemsDir,
		LeavesAtRest: []string{"/queue/claims", "/queue/dedup", marksDir + "/*"},
	}), queueDir, itemsDir, marksDir),
}

const itemsDir, marksDir = queueDir + "/items", queueDir + "/marks"

// findOnce looks for a node with the own prefix.
func (l *plainLock) findOnce() (found bool, err error) {
	names, _, err := l.conn.Children(l.dir)
	if i := slices.IndexFunc(names, l.hasPrefix); err == nil && i >= 0 {
		l.own = names[i]
	}
	return err == nil && l.own != "", ignore(err, zk.ErrNoNode)
}

// number is that of the latest hold. Each hold creates and deletes the node, and the version of the
// list of children counts both: it is 2n+1 in hold n.
func (l *single) number() (int32, error) {
	_, stat, err := l.conn.Exists(lockDir)
	if err != nil {
		return 0, err
	}
	return stat.Cversion, nil
}

// leaveHold deletes the node. After a lost reply it looks whether the hold is over.
func (l *single) leaveHold(hold int32) error {
	err := ignore(l.conn.Delete(singlePath, -1), zk.ErrNoNode)
	if recipes.OutcomeOf(err) != recipes.Unknown {
		return err
	}
	now, looked := l.number()
	if looked == nil && now%4 != hold%4 { // wrong: it may be the hold after the next
		return nil
	}
	return errors.Join(err, looked)
}

// markedQueue is a queue that makes a mark with each element, by which a producer finds out after a
// lost reply whether the element was added.
type markedQueue struct {
	*recipes.Queue
	conn   *zk.Conn
	name   string
	offers int
}

func (q *markedQueue) Offer(_ context.Context, data []byte) error {
	q.offers++
	return repeat(func() error {
		if _, _, err := q.conn.Exists(marksDir); err != nil {
			return err // only now there is a session
		}
		// wrong: the first try may have been in another session
		mark := fmt.Sprintf("%s/%s%x-%d", marksDir, q.name, q.conn.SessionID(), q.offers)
		if there, _, err := q.conn.Exists(mark); err != nil || there {
			return err
		}
		_, err := q.conn.Multi(
			&zk.CreateRequest{Path: mark, Acl: acl},
			&zk.CreateRequest{Path: itemsDir + "/marked-item-", Data: data, Acl: acl,
				Flags: zk.FlagSequence})
		return err
	})
}
