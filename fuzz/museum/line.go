package museum

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// line is the queue of the ZooKeeper guide, as many have written it: an element is
// read, deleted and handed out, and an error of any request is the caller's. An
// exhibit replaces a step of it by a wrong one.
type line struct {
	conn *zk.Conn

	add    func(data []byte) error
	scan   func(names []string) ([]byte, error)                    // take the first that is there, errGone if none is
	await  func(ctx context.Context, change <-chan zk.Event) error // before another look
	remove func(path string) error
}

// queueDir is the directory of a queue, as its workload has it.
const queueDir = "/queue"

// lineOf is a workload of a queue with some steps replaced, nil for none.
func lineOf(replace func(*line)) scenario.Workload {
	w := object.Queue(func(env object.Env) object.Queuer {
		return newLine(env.Conn, replace)
	}, object.QueueClaims{LeavesAtRest: []string{queueDir}}).Named("")
	return beside(w, queueDir)
}

func newLine(c *zk.Conn, replace func(*line)) *line {
	q := &line{conn: c}
	q.add, q.scan, q.await, q.remove = q.addOnce, q.first, awaitChange, q.removeOnce
	if replace != nil {
		replace(q)
	}
	return q
}

// queue is the queue of package recipes, which is right.
func queue() scenario.Workload { return builtIn("queue", "recipes.Queue") }

func (q *line) Offer(_ context.Context, data []byte) error { return q.add(data) }

func (q *line) Take(ctx context.Context) ([]byte, error) {
	for {
		names, _, change, err := q.conn.ChildrenW(queueDir)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		data, err := q.scan(names)
		if !errors.Is(err, errGone) {
			return data, err
		}
		if err := q.await(ctx, change); err != nil {
			return nil, err
		}
	}
}

func (q *line) addOnce(data []byte) error {
	_, err := q.conn.Create(queueDir+"/n-", data, zk.FlagSequence, acl)
	return err
}

// first takes the first of the elements that nobody else takes.
func (q *line) first(names []string) ([]byte, error) {
	for _, name := range names {
		if data, err := q.take(name); !errors.Is(err, zk.ErrNoNode) {
			return data, err
		}
	}
	return nil, errGone
}

func (q *line) take(name string) ([]byte, error) {
	data, _, err := q.conn.Get(queueDir + "/" + name)
	if err == nil {
		err = q.remove(queueDir + "/" + name)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (q *line) removeOnce(path string) error { return q.conn.Delete(path, -1) }

// awaitChange waits until something has changed.
func awaitChange(ctx context.Context, change <-chan zk.Event) error {
	select {
	case <-change:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
