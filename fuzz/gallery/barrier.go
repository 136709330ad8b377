package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedBarriers = []Exhibit{
	{
		Slug: "falls-with-maker", Alias: "S1-8",
		Title:  "the barrier falls with its maker",
		Source: Ours,
		Remark: "No report, code or text was found that has it.",
		Bug: "The node of the barrier is an ephemeral, so that the barrier does not outlive its " +
			"maker. When the maker's session ends, all waiters go on, though nobody has removed " +
			"the barrier.",
		Property: linearizability.Delivery,
		Wrong:    barrierOf(barrierDefects{flags: zk.FlagEphemeral}),
	},
}

var plantedBarriers = []Exhibit{
	{
		Title: "passes on any event", Property: linearizability.Linearizability,
		Wrong: barrierOf(barrierDefects{once: true}),
	},
	{
		Title: "watches too late", Property: linearizability.Liveness,
		Wrong: barrierOf(barrierDefects{lateWatch: true}),
	},
	{
		Title: "does not look whether it is set", Property: linearizability.Linearizability,
		Wrong: barrierOf(barrierDefects{deafSet: true}),
	},
	{
		Title: "removes twice", Property: linearizability.Delivery,
		Wrong: barrierOf(barrierDefects{again: true}),
	},
	{
		Title: "always says that it is down", Property: linearizability.Linearizability,
		Wrong: object.Barrier(func(env object.Env) object.Barrierer {
			return blindly{recipes.NewBarrier(env.Conn, barrierPath)}
		}).Named(""),
	},
}

// The nodes of a barrier, as its workload has them.
const (
	barriersDir = "/barriers"
	barrierPath = barriersDir + "/b"
)

// plainBarrier is a barrier that is right with the zero defects.
type plainBarrier struct {
	conn *zk.Conn
	bad  barrierDefects
}

type barrierDefects struct {
	flags     int32 // of the node
	once      bool  // takes any event for the removal
	lateWatch bool  // looks first and watches after that
	deafSet   bool  // takes any error of a create for success
	again     bool  // deletes again, whatever is there by then
}

func barrierOf(bad barrierDefects) scenario.Workload {
	return beside(object.Barrier(func(env object.Env) object.Barrierer {
		return &plainBarrier{env.Conn, bad}
	}).Named(""), barriersDir)
}

func (b *plainBarrier) Set(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := b.conn.Create(barrierPath, nil, b.bad.flags, acl)
		if err == nil || errors.Is(err, zk.ErrNodeExists) || b.bad.deafSet {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

func (b *plainBarrier) Remove(ctx context.Context) error {
	err := gone(b.conn.Delete(barrierPath, -1))
	for b.bad.again && ctx.Err() == nil && err != nil {
		time.Sleep(100 * time.Millisecond)
		err = gone(b.conn.Delete(barrierPath, -1))
	}
	return err
}

func (b *plainBarrier) Wait(ctx context.Context) error {
	for ctx.Err() == nil {
		if b.bad.lateWatch {
			if there, _, err := b.conn.Exists(barrierPath); err == nil && !there {
				return nil
			}
		}
		change, err := b.watch()
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil
		case err != nil:
			time.Sleep(20 * time.Millisecond)
			continue
		}
		again(ctx, change)
		if b.bad.once {
			return nil
		}
	}
	return ctx.Err()
}

// watch watches the barrier. It is an error if that is down, except in a late watch.
func (b *plainBarrier) watch() (<-chan zk.Event, error) {
	if b.bad.lateWatch {
		_, _, change, err := b.conn.ExistsW(barrierPath)
		return change, err
	}
	_, _, change, err := b.conn.GetW(barrierPath)
	return change, err
}

// blindly is a barrier that never sees itself up.
type blindly struct{ *recipes.Barrier }

func (b blindly) IsSet(context.Context) (bool, error) { return false, nil }
