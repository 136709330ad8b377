package gallery

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedRwlockDrawn = []Exhibit{
	{Slug: "children-below-ephemeral", Alias: "S4-37", Title: "readers below an ephemeral",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#ephemeral-nodes",
		See: []string{"a design that cannot be built"},
		Bug: "The lock's node is an ephemeral, so that a writer that ends frees it, and each " +
			"reader has a node below it. Ephemerals cannot have children: no client can ever " +
			"read.",
		Property: liveness,
		Wrong:    drawnOf(func(l *drawn) { l.flags = zk.FlagEphemeral })}, // wrong: it has children
	{Slug: "readers-lock-out-writers", Alias: "S4-38",
		Title:  "no client writes after the first reader",
		Source: Ours, Remark: unreadArticle,
		Bug: "The first reader makes the lock's node, with \"0\" in it, and a writer needs that " +
			"there is none. No step of the design deletes it when the last reader leaves.",
		Property: liveness,
		Wrong:    drawnOf(func(l *drawn) { l.lastReader = nothing })}, // wrong: the node stays
	{Slug: "looks-then-enters", Alias: "S4-39", Title: "a reader looks, and then goes in",
		Source: Ours, Remark: unreadArticle,
		Bug: "A reader sees \"0\" in the lock's node, and then makes its own below it. Between " +
			"the two the last other reader leaves and a writer comes: the reader's node is below " +
			"the writer's.",
		Property: safety,
		Wrong:    drawnOf()}, // wrong: it needs a multi that checks the node's version
}

// unreadArticle is the remark of exhibits without a source.
const unreadArticle = "An article is said to have it, but it could not be read again."

// drawn is a read-write lock as tutorials draw it: one node, "1" for a writer and "0" for readers,
// which have a node each below it. It is wrong as it is. An exhibit replaces a step.
type drawn struct {
	conn  *zk.Conn
	mode  string
	flags int32  // of the node
	value string // of the node if it is this writer's
	own   string // path of the own node
	token int64  // its czxid

	lastReader func() error // after a reader has left
}

// drawnPath is the node.
const drawnPath = lockDir + "/writeLock"

// drawnOf is a workload of a drawn lock with some steps replaced: in each round a client reads or
// writes.
func drawnOf(steps ...func(*drawn)) scenario.Workload {
	modes := []string{ops.ReadMode, ops.WriteMode}
	return playing(readWriteOf(), func(p *scenario.Player, round int) {
		l := &drawn{conn: p.Conn(), mode: modes[p.Choose(scenario.At("mode", round), 2)]}
		l.value, l.lastReader = "1 "+newLock(l.conn, lockDir).guid(), l.freeNode
		playRound(p, with(l, steps), l.mode, round)
	})
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
			await(ctx, change)
		}
	}
	return ctx.Err()
}

// make makes the node, unless there is one, and reports whether it has the value then.
func (l *drawn) make(value string) (is bool, stat *zk.Stat, err error) {
	_, err = l.conn.Create(drawnPath, []byte(value), l.flags, acl)
	if ignore(err, zk.ErrNodeExists) != nil {
		return false, nil, err
	}
	data, stat, err := l.conn.Get(drawnPath)
	return err == nil && string(data) == value, stat, ignore(err, zk.ErrNoNode)
}

func (l *drawn) write() (bool, error) {
	is, stat, err := l.make(l.value)
	if is {
		l.own, l.token = drawnPath, stat.Czxid
	}
	return is, err
}

// read makes a node below the one of all readers.
func (l *drawn) read() (bool, error) {
	is, _, err := l.make("0")
	if !is {
		return false, err
	}
	l.own, err = l.conn.CreateProtectedEphemeralSequential(drawnPath+"/read-", nil, acl)
	if err != nil {
		return false, ignore(ignore(err, zk.ErrNoNode), zk.ErrNoChildrenForEphemerals)
	}
	_, stat, err := l.conn.Get(l.own)
	if err == nil {
		l.token = stat.Czxid
	}
	return err == nil, err
}

// Unlock deletes the own node.
func (l *drawn) Unlock(context.Context) error {
	err := ignore(l.conn.Delete(l.own, -1), zk.ErrNoNode)
	if err == nil && l.mode == ops.ReadMode {
		err = l.lastReader()
	}
	return err
}

// freeNode deletes the node, unless others read.
func (l *drawn) freeNode() error {
	return ignore(ignore(l.conn.Delete(drawnPath, -1), zk.ErrNotEmpty), zk.ErrNoNode)
}
