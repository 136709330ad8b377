package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// guideBarrier is the guide's double barrier as it is often written: members and
// one node "ready", that nobody removes unless told so.
type guideBarrier struct {
	conn *zk.Conn
	size int
	own  string

	removesReady bool // in Leave
	countsReady  bool // as a member
	staysBehind  bool // leaves its node when it gives up
	leavesAlone  bool // does not wait for the others
}

func (b *guideBarrier) Enter(ctx context.Context) error {
	b.conn.Create("/double", nil, 0, openACL)
	for ctx.Err() == nil {
		own, err := b.conn.CreateProtectedEphemeralSequential("/double/m-", nil, openACL)
		if err == nil {
			b.own = own
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for ctx.Err() == nil {
		if members, err := b.members(); err == nil && members >= b.size {
			b.conn.Create("/double/ready", nil, 0, openACL)
		}
		if ready, _, err := b.conn.Exists("/double/ready"); err == nil && ready {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !b.staysBehind {
		b.remove()
	}
	return ctx.Err()
}

// members counts who is there.
func (b *guideBarrier) members() (n int, err error) {
	names, _, err := b.conn.Children("/double")
	for _, name := range names {
		if b.countsReady || strings.Contains(name, "m-") {
			n++
		}
	}
	return n, err
}

func (b *guideBarrier) remove() {
	for range attempts {
		if err := b.conn.Delete(b.own, -1); err == nil || errors.Is(err, zk.ErrNoNode) {
			return
		}
	}
}

func (b *guideBarrier) Leave(ctx context.Context) error {
	b.remove()
	for ctx.Err() == nil && !b.leavesAlone {
		if members, err := b.members(); err == nil && members == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if b.removesReady {
		b.conn.Delete("/double/ready", -1)
	}
	return ctx.Err()
}

func mutantGuide(bad guideBarrier) scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		b := bad
		b.conn, b.size = env.Conn, env.Size
		return &b
	}, object.BarrierClaims{LeavesAtRest: []string{"/double/ready"}}).Named("mutant")
}

// choosy is a double barrier for one more than there are.
func choosy() scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, "/double", env.Size+1)
	}).Named("mutant")
}

// hurried is a double barrier for one less.
func hurried() scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, "/double", env.Size-1)
	}).Named("mutant")
}

func TestDoubleBarrierMutantsAreFound(t *testing.T) {
	t.Parallel()
	for i, m := range []struct {
		workload scenario.Workload
		property string
	}{
		{mutantGuide(guideBarrier{}), linearizability.Safety},                                      // the next round finds "ready"
		{mutantGuide(guideBarrier{removesReady: true, leavesAlone: true}), linearizability.Safety}, // leaves before the others
		{mutantGuide(guideBarrier{removesReady: true, countsReady: true}), linearizability.Liveness},
		{mutantGuide(guideBarrier{removesReady: true, staysBehind: true}), linearizability.Orphans},
		{choosy(), linearizability.Liveness},
		{hurried(), linearizability.Safety},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}
