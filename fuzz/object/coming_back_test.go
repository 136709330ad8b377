package object_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// hidingQueue is a queue with a visibility timeout: a take hides an element for a time, and only an
// ack removes it. The data of an element is the time, in milliseconds, up to which it is hidden, a
// bar, and the payload.
type hidingQueue struct {
	conn recipes.Conn
	dir  string
	hide time.Duration
}

// hidden is a delivery of an element by a hidingQueue. The version of its znode is that of the
// mark.
type hidden struct {
	queue   hidingQueue
	path    string
	payload []byte
	version int32
}

func hiddenUntil(at int64, payload []byte) []byte { return fmt.Appendf(nil, "%d|%s", at, payload) }

func payloadOfHidden(data string) (string, bool) {
	_, payload, ok := strings.Cut(data, "|")
	return payload, ok
}

func (q hidingQueue) Offer(_ context.Context, data []byte) error {
	for {
		_, err := q.conn.Create(q.dir+"/item-", hiddenUntil(0, data), zk.FlagSequence, everyone)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if _, err := q.conn.Create(q.dir, nil, 0, everyone); err != nil &&
			!errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
}

func (q hidingQueue) Take(ctx context.Context) (object.Delivery, error) {
	for ctx.Err() == nil {
		names, _, err := q.conn.Children(q.dir)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		for _, name := range sorted(names) {
			d, err := q.take(q.dir + "/" + name)
			if d != nil || err != nil {
				return d, err
			}
		}
		nap(ctx, 50*time.Millisecond)
	}
	return nil, ctx.Err()
}

// take hides one element. It returns nil if that is gone, or hidden.
func (q hidingQueue) take(path string) (object.Delivery, error) {
	data, stat, err := q.conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	until, payload, _ := strings.Cut(string(data), "|")
	if at, _ := strconv.ParseInt(until, 10, 64); at > time.Now().UnixMilli() {
		return nil, nil
	}
	d := hidden{q, path, []byte(payload), stat.Version + 1}
	at := time.Now().Add(q.hide + time.Millisecond).UnixMilli()
	switch _, err := q.conn.Set(path, hiddenUntil(at, d.payload), stat.Version); {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", recipes.ErrAmbiguous, err)
	}
	return d, nil
}

func (d hidden) Data() []byte { return d.payload }

func (d hidden) Ack(context.Context) error {
	switch err := d.queue.conn.Delete(d.path, d.version); {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return fmt.Errorf("%w: %w", object.ErrFinal, err)
	case err != nil:
		return fmt.Errorf("%w: %w", recipes.ErrAmbiguous, err)
	}
	return nil
}

func (d hidden) Release(context.Context) error {
	_, err := d.queue.conn.Set(d.path, hiddenUntil(0, d.payload), d.version)
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
		return nil // it has come back already, or is gone
	}
	return err
}

// hiding makes a workload of a hidingQueue that claims to hide elements for three seconds.
func hiding(hide time.Duration) scenario.Workload {
	return object.LockQueue(func(env object.Env) object.LockQueuer {
		return hidingQueue{env.InTurn(), env.Path, hide}
	}, object.LockQueueClaims{
		QueueClaims: object.QueueClaims{Element: payloadOfHidden}, ComesBack: 3 * time.Second,
	})
}

// TestDeliveriesThatComeBack: a queue with a visibility timeout is right, and one that hides its
// elements for too short a time, or for ever, is not.
func TestDeliveriesThatComeBack(t *testing.T) {
	t.Parallel()
	unusualSurvives(t, hiding(3*time.Second).Named("hiding queue"))
	for hide, property := range map[time.Duration]string{
		time.Second: linearizability.Safety, 10 * time.Hour: linearizability.Liveness,
	} {
		found, err := hunt.Hunt{
			Workload: hiding(hide).Named("wrong queue"), Script: scenario.DefaultScript, Seed: 1,
			Runs: 300,
		}.Run(t.Context())
		check.OK(t, err)
		if o := found.First(); o == nil || o.Report.First().Property != property {
			t.Errorf("hidden for %v: want a violation of %s; got %v", hide, property, o)
		}
	}
}
