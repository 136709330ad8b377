package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// tutorialThreshold is the threshold barrier of tutorials: the data of a node is the
// number, its children are the members, who count each other ten times a second. Who
// finds enough leaves a node for the others that is named after the number's version.
type tutorialThreshold struct {
	conn *zk.Conn
	own  string

	setsAgain  bool // whatever was lost
	exactly    bool // it takes just so many
	forgetful  bool // nothing is left for the others
	countsAll  bool // also what is left of other rounds
	keepsReady bool // what is left has the same name in each round
	staysOn    bool // its node stays until it comes again
	staysAway  bool // its node stays when it gives up
	comesTwice bool // it makes a node in each session, and counts both
	readsOnce  bool // the number
}

const thresholdPath = "/thresholds/t"

func (b *tutorialThreshold) Set(ctx context.Context, members int) error {
	if !b.setsAgain {
		return recipes.NewThresholdBarrier(b.conn, thresholdPath).Set(ctx, members)
	}
	data := strconv.AppendInt(nil, int64(members), 10)
	for range attempts {
		_, err := b.conn.Set(thresholdPath, data, -1)
		if errors.Is(err, zk.ErrNoNode) {
			b.conn.Create("/thresholds", nil, 0, openACL)
			_, err = b.conn.Create(thresholdPath, data, 0, openACL)
		}
		if err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return zk.ErrConnectionClosed
}

func (b *tutorialThreshold) Wait(ctx context.Context) error {
	if b.own != "" {
		b.remove()
	}
	session, number, ready := int64(0), 0, ""
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if session == 0 || b.comesTwice && session != b.conn.SessionID() {
			if !b.come() {
				continue
			}
			session = b.conn.SessionID()
		}
		if number == 0 || !b.readsOnce {
			number, ready = b.number()
		}
		if number > 0 && b.isOpen(number, ready) {
			if !b.staysOn {
				b.remove()
			}
			return nil
		}
	}
	if !b.staysAway {
		b.remove()
	}
	return ctx.Err()
}

func (b *tutorialThreshold) come() bool {
	own, err := b.conn.CreateProtectedEphemeralSequential(thresholdPath+"/m-", nil, openACL)
	b.own = own
	return err == nil
}

// number reads the number, and the name of what is left when so many are there.
func (b *tutorialThreshold) number() (int, string) {
	data, stat, err := b.conn.Get(thresholdPath)
	if err != nil {
		return 0, ""
	}
	number, _ := strconv.Atoi(string(data)) // 0: not set
	if b.keepsReady {
		return number, thresholdPath + "/ready"
	}
	return number, fmt.Sprintf("%s/ready-%d", thresholdPath, stat.Version)
}

func (b *tutorialThreshold) isOpen(number int, ready string) bool {
	if open, _, err := b.conn.Exists(ready); err == nil && open && !b.forgetful {
		return true
	}
	names, _, err := b.conn.Children(thresholdPath)
	members := 0
	for _, name := range names {
		if b.countsAll || strings.Contains(name, "m-") {
			members++
		}
	}
	if err != nil || members < number || b.exactly && members > number {
		return false
	}
	if !b.forgetful {
		b.conn.Create(ready, nil, 0, openACL)
	}
	return true
}

func (b *tutorialThreshold) remove() {
	for range attempts {
		if err := b.conn.Delete(b.own, -1); err == nil || errors.Is(err, zk.ErrNoNode) {
			return
		}
	}
}

func mutantThreshold(bad tutorialThreshold) scenario.Workload {
	claims := object.BarrierClaims{LeavesAtRest: []string{"/thresholds/t/ready*"}}
	return object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		b := bad
		b.conn = env.Conn
		return &b
	}, claims).Named("mutant")
}

// otherThreshold is a threshold barrier for some more or less than it was set to.
type otherThreshold struct {
	*recipes.ThresholdBarrier
	more int
}

func (b otherThreshold) Set(ctx context.Context, members int) error {
	return b.ThresholdBarrier.Set(ctx, max(1, members+b.more))
}

func mutantNumber(more int) scenario.Workload {
	return object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		return otherThreshold{recipes.NewThresholdBarrier(env.Conn, thresholdPath), more}
	}).Named("mutant")
}

func TestThresholdBarrierMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		workload scenario.Workload
		property string
	}{
		{"sets again whatever was lost", mutantThreshold(tutorialThreshold{setsAgain: true}), linearizability.Delivery},
		{"takes just so many", mutantThreshold(tutorialThreshold{exactly: true, forgetful: true}), linearizability.Liveness},
		{"leaves nothing for the slow", mutantThreshold(tutorialThreshold{forgetful: true}), linearizability.Liveness},
		{"counts what is left of other rounds", mutantThreshold(tutorialThreshold{countsAll: true}), linearizability.Safety},
		{"stays open", mutantThreshold(tutorialThreshold{keepsReady: true}), linearizability.Safety},
		{"counts members of the round before", mutantThreshold(tutorialThreshold{staysOn: true}), linearizability.Safety},
		{"leaves its node when it gives up", mutantThreshold(tutorialThreshold{staysAway: true}), linearizability.Orphans},
		{"counts the node of its dying session", mutantThreshold(tutorialThreshold{comesTwice: true}), linearizability.Safety},
		{"does not see that the number changes", mutantThreshold(tutorialThreshold{readsOnce: true}), linearizability.Safety},
		{"waits for one more", mutantNumber(1), linearizability.Liveness},
		{"waits for one less", mutantNumber(-1), linearizability.Safety},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}
