package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedBarriers = []Exhibit{
	{Slug: "falls-with-maker", Alias: "S1-8", Title: "the barrier falls with its maker",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The node of the barrier is an ephemeral, so that the barrier does not outlive its " +
			"maker. When the maker's session ends, all waiters go on, though no client has " +
			"removed the barrier.",
		Property: delivery, Wrong: barrierOf(plainBarrier{flags: zk.FlagEphemeral})},
	{Slug: "outlives-its-maker", Title: "the barrier outlives its maker",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "The node of the barrier is persistent, and its maker dies before it has removed " +
			"it. Nobody else knows when it has to go, and nobody hears of the death: all wait " +
			"for ever.",
		Property: liveness,
		Wrong:    makerDies(func(*makerBarrier) bool { return false }), // wrong: it may be dead
		Right:    makerDies((*makerBarrier).isBroken)},
	{Slug: "second-remover-fails", Title: "the second client that removes it gets an error",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "Two clients see that the condition is met, and both remove the barrier. The second " +
			"delete says NoNode, which is as good as success, and its caller gets an error.",
		Property: invariant,
		Wrong:    removedByAll(plainBarrier{strict: true}), // wrong: another may have removed it
		Right:    removedByAll(plainBarrier{})},
}

// makerBarrier is a barrier whose maker has an ephemeral node. Waiters look for it now and then.
type makerBarrier struct {
	plainBarrier
	broken func(*makerBarrier) bool
}

const makerPath = barriersDir + "/maker"

func (b *makerBarrier) Set(ctx context.Context) error {
	if _, err := b.conn.Create(makerPath, nil, zk.FlagEphemeral, acl); err != nil {
		return err
	}
	return b.plainBarrier.Set(ctx)
}

// Wait returns errGone if the maker has died.
func (b *makerBarrier) Wait(ctx context.Context) error {
	for ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, time.Second)
		err := b.plainBarrier.Wait(short)
		cancel()
		if err == nil {
			return nil
		}
		if b.broken(b) {
			return errGone
		}
	}
	return ctx.Err()
}

func (b *makerBarrier) isBroken() bool {
	there, _, err := b.conn.Exists(makerPath)
	return err == nil && !there
}

// makerDies is a workload of a barrier with a maker that dies.
func makerDies(broken func(*makerBarrier) bool) scenario.Workload {
	w := barrierOf(plainBarrier{})
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		b := &makerBarrier{plainBarrier{conn: p.Conn()}, broken}
		if p.Index() == 0 {
			_ = do(p, ops.Set, "", b.Set)
			p.Conn().Close()
			return
		}
		p.Pause(time.Second)
		_ = do(p, ops.Wait, "", b.Wait)
	}
	return judgedByReturns(w)
}

// removedByAll is a workload of a barrier that each client sets and removes.
func removedByAll(bad plainBarrier) scenario.Workload {
	w := playing(barrierOf(bad), func(p *scenario.Player, _ int) {
		b := bad
		b.conn = p.Conn()
		_ = do(p, ops.Set, "", b.Set)
		_ = do(p, ops.Remove, "", b.Remove)
	})
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

var plantedBarriers = []Exhibit{
	planted("passes on any event", linearizable, barrierOf(plainBarrier{once: true})),
	planted("watches too late", liveness, barrierOf(plainBarrier{lateWatch: true})),
	planted("does not look whether it is set", linearizable,
		barrierOf(plainBarrier{ignoresSetError: true})),
	planted("removes twice", delivery, barrierOf(plainBarrier{again: true})),
	planted("each wait in vain leaves a watch", orphans, // as CURATOR-654 has it
		barrierOf(plainBarrier{forgets: true})),
	planted("always says that it is down", linearizable,
		object.Barrier(func(env object.Env) object.Barrierer {
			return blindBarrier{recipes.NewBarrier(env.Conn, barrierPath)}
		})),
}

// The nodes of a barrier, as its workload has them.
const (
	barriersDir = "/barriers"
	barrierPath = barriersDir + "/b"
)

// plainBarrier is a barrier that is right with the zero defects.
type plainBarrier struct {
	conn *zk.Conn

	flags           int32 // of the node
	once            bool  // takes any event for the removal
	lateWatch       bool  // looks first and watches after that
	ignoresSetError bool  // takes any error of a create for success
	again           bool  // deletes again, also the node of a later Set
	strict          bool  // takes a barrier that is gone for an error

	before func(conn *zk.Conn, path string) error // it looks, for ensembles

	forgets bool            // a wait that is given up forgets its watch
	change  <-chan zk.Event // the watch of the wait before
}

func barrierOf(bad plainBarrier) scenario.Workload {
	return beside(object.Barrier(func(env object.Env) object.Barrierer {
		b := bad
		b.conn = env.Conn
		return &b
	}), barriersDir)
}

func (b *plainBarrier) Set(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := b.conn.Create(barrierPath, nil, b.flags, acl)
		if ignore(err, zk.ErrNodeExists) == nil || b.ignoresSetError {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

func (b *plainBarrier) Remove(ctx context.Context) error {
	if b.strict {
		return b.conn.Delete(barrierPath, -1)
	}
	err := ignore(b.conn.Delete(barrierPath, -1), zk.ErrNoNode)
	for b.again && ctx.Err() == nil && err != nil {
		time.Sleep(100 * time.Millisecond)
		err = ignore(b.conn.Delete(barrierPath, -1), zk.ErrNoNode)
	}
	return err
}

func (b *plainBarrier) Wait(ctx context.Context) error {
	for ctx.Err() == nil {
		if b.change == nil {
			change, err := b.watch()
			switch {
			case errors.Is(err, zk.ErrNoNode):
				return nil
			case err != nil:
				time.Sleep(20 * time.Millisecond)
				continue
			}
			b.change = change
		}
		if _, err := await(ctx, b.change); err == nil || b.forgets {
			b.change = nil
		}
		if b.once {
			return nil
		}
	}
	return ctx.Err()
}

// watch watches the barrier. The error of a barrier that is down is ErrNoNode.
func (b *plainBarrier) watch() (change <-chan zk.Event, err error) {
	if b.before != nil {
		if err := b.before(b.conn, barrierPath); err != nil {
			return nil, err
		}
	}
	if !b.lateWatch {
		_, _, change, err = b.conn.GetW(barrierPath)
		return change, err
	}
	if up, _, err := b.conn.Exists(barrierPath); err == nil && !up {
		return nil, zk.ErrNoNode
	}
	_, _, change, err = b.conn.ExistsW(barrierPath)
	return change, err
}

// blindBarrier never says that it is set.
type blindBarrier struct{ *recipes.Barrier }

func (b blindBarrier) IsSet(context.Context) (bool, error) { return false, nil }
