package fuzz_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// consumerQueue is a queue with locks as it is often written, with one defect more
// for each flag.
type consumerQueue struct {
	seqQueue
	bad consumerDefects
}

type consumerDefects struct {
	noLock      bool // does not lock
	anybodys    bool // takes any lock for its own
	forEver     bool // locks with persistent nodes
	youngest    bool // takes the youngest element
	removeFirst bool // removes an element when it delivers it
	keep        bool // acknowledges without removing
	deafWatch   bool // waits for nothing but a minute
}

func (q *consumerQueue) Take(ctx context.Context) (object.Delivery, error) {
	for {
		names, _, changed, err := q.conn.ChildrenW("/queue")
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		if q.bad.youngest {
			slices.Reverse(names)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "-lock") || slices.Contains(names, name+"-lock") && !q.bad.noLock {
				continue
			}
			d, err := q.deliver("/queue/" + name)
			if d != nil || err != nil {
				return d, err
			}
		}
		if q.bad.deafWatch {
			changed = nil
		}
		if err := nap(ctx, changed); err != nil {
			return nil, err
		}
	}
}

func (q *consumerQueue) deliver(path string) (object.Delivery, error) {
	flags := int32(zk.FlagEphemeral)
	if q.bad.forEver {
		flags = 0
	}
	if !q.bad.noLock {
		_, err := q.conn.Create(path+"-lock", nil, flags, openACL)
		if errors.Is(err, zk.ErrNodeExists) && !q.bad.anybodys {
			return nil, nil
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
	}
	data, _, err := q.conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, ignored(q.conn.Delete(path+"-lock", -1))
	}
	if err == nil && q.bad.removeFirst {
		err = q.conn.Delete(path, -1)
	}
	if err != nil {
		return nil, err
	}
	return &badDelivery{q, path, data}, nil
}

// ignored leaves it out that something is gone.
func ignored(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

type badDelivery struct {
	q    *consumerQueue
	path string
	data []byte
}

func (d *badDelivery) Data() []byte { return d.data }

// Ack deletes by name, as kazoo's LockingQueue does.
func (d *badDelivery) Ack(ctx context.Context) error {
	var err error
	if !d.q.bad.keep {
		err = ignored(d.q.conn.Delete(d.path, -1))
	}
	if err != nil {
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return d.Release(ctx)
}

func (d *badDelivery) Release(context.Context) error {
	if err := ignored(d.q.conn.Delete(d.path+"-lock", -1)); err != nil {
		return errors.Join(recipes.ErrAmbiguous, err)
	}
	return nil
}

func TestMutantLockQueuesAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      consumerDefects
		property string
	}{
		{"does not lock", consumerDefects{noLock: true}, linearizability.Safety},
		{"takes any lock for its own", consumerDefects{anybodys: true}, linearizability.Safety},
		{"locks for ever", consumerDefects{forEver: true}, linearizability.Orphans},
		{"takes the youngest first", consumerDefects{youngest: true}, linearizability.Order},
		{"removes what it delivers", consumerDefects{removeFirst: true}, linearizability.Delivery},
		{"keeps what is done", consumerDefects{keep: true}, linearizability.Delivery},
		{"waits for no lock", consumerDefects{deafWatch: true}, linearizability.Liveness},
		{"deletes another's lock", consumerDefects{}, linearizability.Safety},
		{"acknowledges what was redelivered", consumerDefects{}, linearizability.Delivery},
	} {
		t.Run(m.about, func(t *testing.T) {
			w := object.LockQueue(func(env object.Env) object.LockQueuer { return &consumerQueue{seqQueue{conn: env.Conn}, m.bad} }, object.LockQueueClaims{Lock: func(item string) string { return item + "-lock" }}).Named("mutant")
			findsMutant(t, w, m.property)
		})
	}
}
