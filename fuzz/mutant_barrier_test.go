package fuzz_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// plainBarrier is a barrier that is right, as far as single faults go, with the
// zero defects.
type plainBarrier struct {
	conn *zk.Conn
	bad  barrierDefects
}

type barrierDefects struct {
	once      bool // takes any event for the removal
	lateWatch bool // looks first and watches after that
	deafSet   bool // takes any error of a create for success
	again     bool // deletes again, whatever is there by then
	temporary bool // sets an ephemeral
}

func (b *plainBarrier) Set(ctx context.Context) error {
	for ctx.Err() == nil {
		var flags int32
		if b.bad.temporary {
			flags = zk.FlagEphemeral
		}
		b.conn.Create("/barriers", nil, 0, openACL)
		_, err := b.conn.Create("/barriers/b", nil, flags, openACL)
		if err == nil || errors.Is(err, zk.ErrNodeExists) || b.bad.deafSet {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

func (b *plainBarrier) Remove(ctx context.Context) error {
	err := b.conn.Delete("/barriers/b", -1)
	for b.bad.again && ctx.Err() == nil && err != nil && !errors.Is(err, zk.ErrNoNode) {
		time.Sleep(100 * time.Millisecond)
		err = b.conn.Delete("/barriers/b", -1)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (b *plainBarrier) Wait(ctx context.Context) error {
	for ctx.Err() == nil {
		if b.bad.lateWatch {
			there, _, err := b.conn.Exists("/barriers/b")
			if err == nil && !there {
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
		select {
		case <-change:
		case <-ctx.Done():
		}
		if b.bad.once {
			return nil
		}
	}
	return ctx.Err()
}

// watch watches the barrier, which is an error if it is down, or, too late, whatever
// there is.
func (b *plainBarrier) watch() (<-chan zk.Event, error) {
	if b.bad.lateWatch {
		_, _, change, err := b.conn.ExistsW("/barriers/b")
		return change, err
	}
	_, _, change, err := b.conn.GetW("/barriers/b")
	return change, err
}

func mutantBarrier(bad barrierDefects) scenario.Workload {
	return object.Barrier(func(env object.Env) object.Barrierer { return &plainBarrier{env.Conn, bad} }).Named("mutant")
}

// blindly is a barrier that never sees itself up.
type blindly struct{ *recipes.Barrier }

func (b blindly) IsSet(context.Context) (bool, error) { return false, nil }

func TestBarrierMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		workload scenario.Workload
		property string
	}{
		{"passes on any event", mutantBarrier(barrierDefects{once: true}), linearizability.Linearizability},
		{"watches too late", mutantBarrier(barrierDefects{lateWatch: true}), linearizability.Liveness},
		{"does not look whether it is set", mutantBarrier(barrierDefects{deafSet: true}), linearizability.Linearizability},
		{"removes twice", mutantBarrier(barrierDefects{again: true}), linearizability.Delivery},
		{"goes with its setter's session", mutantBarrier(barrierDefects{temporary: true}), linearizability.Delivery},
		{"always says that it is down", object.Barrier(func(env object.Env) object.Barrierer {
			return blindly{recipes.NewBarrier(env.Conn, "/barriers/b")}
		}).Named("mutant"), linearizability.Linearizability},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}

// TestSameBarrierWithoutDefectSurvives is the control.
func TestSameBarrierWithoutDefectSurvives(t *testing.T) { survives(t, mutantBarrier(barrierDefects{})) }
