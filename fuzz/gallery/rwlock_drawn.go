package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedRwlockDrawn = []Exhibit{
	{
		Slug: "children-below-ephemeral", Alias: "S4-37",
		Title:  "readers below an ephemeral",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#ephemeral-nodes",
		See: []string{"a design that cannot be built"},
		Bug: "The lock's node is an ephemeral, so that a writer that ends frees it, and each " +
			"reader has a node below it. Ephemerals cannot have children: nobody can ever read.",
		Property: linearizability.Liveness,
		Wrong:    drawnOf(func(l *drawn) { l.flags = zk.FlagEphemeral }), // wrong: it has children
	},
	{
		Slug: "readers-lock-out-writers", Alias: "S4-38",
		Title:  "nobody writes after the first reader",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "The first reader makes the lock's node, with \"0\" in it, and a writer needs that " +
			"there is none. No step of the design deletes it when the last reader leaves.",
		Property: linearizability.Liveness,
		Wrong: drawnOf(func(l *drawn) {
			l.lastReader = func() error { return nil } // wrong: somebody must
		}),
	},
	{
		Slug: "looks-then-enters", Alias: "S4-39",
		Title:  "a reader looks, and then goes in",
		Source: Ours,
		Remark: "An article is said to have it, but it could not be read again.",
		Bug: "A reader sees \"0\" in the lock's node, and then makes its own below it. Between the " +
			"two the last other reader leaves and a writer comes: the reader's node is below the " +
			"writer's.",
		Property: linearizability.Safety,
		Wrong:    drawnOf(func(*drawn) {}), // wrong: it needs a multi that checks the node's version
	},
}

// drawn is a read-write lock as it is drawn in a tutorial: one node, "1" for a writer
// and "0" for readers, of whom each has a node below it. An exhibit leaves a step out or
// does it otherwise.
type drawn struct {
	conn  *zk.Conn
	mode  string
	flags int32  // of the node
	value string // that the node has if it is this writer's
	own   string // path of the own node
	token int64  // its czxid

	lastReader func() error // what a reader does who has left
}

// drawnPath is the node.
const drawnPath = lockDir + "/writeLock"

// drawnOf is a workload of a drawn lock with some steps replaced: in each round a client
// reads or writes.
func drawnOf(replace func(*drawn)) scenario.Workload {
	w := readWriteOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := &drawn{conn: p.Conn(), mode: []string{ops.ReadMode, ops.WriteMode}[p.Choose(scenario.At("mode", round), 2)]}
			l.value, l.lastReader = "1 "+newNaked(p.Conn(), lockDir).guid(), l.freeNode
			replace(l)
			playRound(p, l, l.mode, round)
		}
	}
	return w
}

func (l *drawn) Token() int64 { return l.token }

func (l *drawn) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		enter := l.read
		if l.mode == ops.WriteMode {
			enter = l.write
		}
		if in, err := enter(); in || err != nil {
			return err
		}
		if _, _, change, err := l.conn.GetW(drawnPath); err == nil {
			again(ctx, change)
		}
	}
	return ctx.Err()
}

// write makes the node if there is none.
func (l *drawn) write() (bool, error) {
	_, err := l.conn.Create(drawnPath, []byte(l.value), l.flags, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return false, err
	}
	data, stat, err := l.conn.Get(drawnPath)
	if errors.Is(err, zk.ErrNoNode) || err == nil && string(data) != l.value {
		return false, nil
	}
	if err == nil {
		l.own, l.token = drawnPath, stat.Czxid
	}
	return err == nil, err
}

// read makes a node below it, and it if there is none.
func (l *drawn) read() (bool, error) {
	_, err := l.conn.Create(drawnPath, []byte("0"), l.flags, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return false, err
	}
	data, _, err := l.conn.Get(drawnPath)
	if errors.Is(err, zk.ErrNoNode) || err == nil && string(data) != "0" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.own, err = l.conn.CreateProtectedEphemeralSequential(drawnPath+"/read-", nil, acl)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoChildrenForEphemerals) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, stat, err := l.conn.Get(l.own)
	if err == nil {
		l.token = stat.Czxid
	}
	return err == nil, err
}

// Unlock deletes the own node, and does what else there is to do.
func (l *drawn) Unlock(context.Context) error {
	err := l.conn.Delete(l.own, -1)
	if errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	if err == nil && l.mode == ops.ReadMode {
		err = l.lastReader()
	}
	return err
}

// freeNode deletes the node, unless others read.
func (l *drawn) freeNode() error {
	err := l.conn.Delete(drawnPath, -1)
	if errors.Is(err, zk.ErrNotEmpty) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
