package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// distributedQueueSource is the queue of ZooKeeper's own recipes.
const distributedQueueSource = "https://github.com/apache/zookeeper/blob/master/zookeeper-recipes/zookeeper-recipes-queue/src/main/java/org/apache/zookeeper/recipes/queue/DistributedQueue.java"

func directoryRace() Exhibit {
	return Exhibit{
		ID: "S0-17", Title: "two make the directory",
		Report: distributedQueueSource,
		Bug: "Who finds no directory makes it. If two do at once the second gets NodeExists, which is as good as success, and " +
			"its caller gets an error instead.",
		Property: scenario.InvariantProperty,
		Wrong:    withoutDir(func() dirMaker { return checkThenCreate }), // wrong: another may have made it
		Right:    withoutDir(func() dirMaker { return makeQueueDir }),
	}
}

func checkThenCreate(conn *zk.Conn) error {
	there, _, err := conn.Exists(queueDir)
	if err == nil && !there {
		_, err = conn.Create(queueDir, nil, 0, acl)
	}
	return err
}

// makeQueueDir makes the directory, unless it is there.
func makeQueueDir(conn *zk.Conn) error {
	err := checkThenCreate(conn)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// dirMaker makes the directory if need be.
type dirMaker func(*zk.Conn) error

// withoutDir is a workload of a queue whose directory is made by those who use it, each
// by a maker of its own.
func withoutDir(maker func() dirMaker) scenario.Workload {
	w := object.Queue(func(env object.Env) object.Queuer {
		return dirQueue{newLine(env.Conn, nil), maker()}
	}).Named("")
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// dirQueue is a queue that makes its directory before it is used.
type dirQueue struct {
	*line
	makeDir dirMaker
}

func (q dirQueue) Offer(ctx context.Context, data []byte) error {
	if err := q.makeDir(q.conn); err != nil {
		return err
	}
	return q.line.Offer(ctx, data)
}

func (q dirQueue) Take(ctx context.Context) ([]byte, error) {
	if err := q.makeDir(q.conn); err != nil {
		return nil, err
	}
	return q.line.Take(ctx)
}
