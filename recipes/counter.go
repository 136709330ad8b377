package recipes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Counter is a number that many clients share. A lost reply neither drops an addition nor repeats
// it. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - An Add that returns nil has added exactly once. After an error that wraps ErrAmbiguous it has
//     added once or not at all; after any other error it has not added.
//   - Add and Get are linearizable: a call takes effect at one moment and returns the value of that
//     moment. Get synchronises with the leader first.
//
// An addition is one transaction: a compare-and-set by the node's version, and the creation of a
// record. After a lost reply the client sends the same transaction again. If that is refused, the
// client looks for the record, which exists only if the first transaction was applied. A comparison
// of values would be wrong, as other clients may have restored the old value.
//
// When the connection is lost, calls wait for it; when the session ends, they go on in the new one,
// as nothing here is ephemeral. A done context ends a call; an Add that was sent and not answered
// is settled in the background (see the package comment).
//
// It is slow with many clients: of simultaneous Adds one succeeds and the others try again. Each
// Add takes a read, a transaction and a deletion. A process that dies in the middle of an Add can
// leave its record; records older than the longest outage can be deleted, as nothing waits for
// them. Do not delete the node while clients add to it: the version and the count would begin at 0
// again.
//
// Layout, all persistent:
//
//	<path>                data = the value in decimal; missing or empty is 0
//	<path>/add-<guid>     an Add under way
//	<path>/turn-<zxid>    the version has passed -1 here, once in 2^32 adds; to stay
//
// Sources: Curator's DistributedAtomicLong, which may return a wrong result after a lost reply;
// ZooKeeper guide, "Recipes and Solutions: Error Handling Notes".
type Counter struct{ lifecycle }

// NewCounter makes a handle for the counter at path, which the first Add creates. It sends nothing.
// The options that matter are ACL, Retry and Containers.
func NewCounter(conn Conn, path string, opts ...Option) *Counter {
	return &Counter{newLifecycle(conn, "counter", path, opts)}
}

// Add adds delta, which may be negative, and returns the value after that. It fails without a
// change if the value does not fit 64 bits, or if the node's data is no number.
func (c *Counter) Add(ctx context.Context, delta int64) (int64, error) {
	return task.Call(ctx, c.tasks, "add to", func(
		ctx context.Context, r *request.Sender, t *task.Task[int64],
	) (int64, error) {
		w, err := request.NewOnceOnlyChange(c.tasks.Path, "add-")
		if err != nil {
			return 0, err
		}
		sum, err := c.add(ctx, r, w, delta)
		return task.EndChange(c.tasks, r, t, w, sum, err)
	})
}

// add repeats the addition until no rival changes the value in between. With an error, sum is the
// value that the counter got if the addition was applied all the same.
func (c *Counter) add(
	ctx context.Context, r *request.Sender, w *request.OnceOnlyChange, delta int64,
) (sum int64, err error) {
	for {
		value, stat, err := c.read(ctx, r)
		if err != nil {
			return sum, err
		}
		if delta > 0 && value > math.MaxInt64-delta || delta < 0 && value < math.MinInt64-delta {
			return 0, fmt.Errorf("the value is %d; adding %d does not fit 64 bits", value, delta)
		}
		sum = value + delta
		err = w.Replace(ctx, r, c.tasks.Path, strconv.AppendInt(nil, sum, 10), stat)
		if !request.IsConflict(err) {
			return sum, err
		}
	}
}

// Get returns the value, as it is at some moment of the call.
func (c *Counter) Get(ctx context.Context) (int64, error) {
	return task.Ask(ctx, c.tasks, "get", func(
		ctx context.Context, r *request.Sender,
	) (int64, error) {
		return request.FreshResult(ctx, r, c.tasks.Path, func() (int64, error) {
			value, _, err := c.read(ctx, r)
			return value, err
		})
	})
}

// read returns the value and the stat of its node. The stat is nil if the node is missing.
func (c *Counter) read(ctx context.Context, r *request.Sender) (int64, *zk.Stat, error) {
	data, stat, err := r.Get(ctx, c.tasks.Path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return 0, nil, nil
	case err != nil:
		return 0, nil, err
	case len(data) == 0:
		return 0, stat, nil
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, nil, fmt.Errorf("the data is %.40q; expected a decimal number of 64 bits", data)
	}
	return value, stat, nil
}
