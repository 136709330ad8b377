package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

// turnLine is the take-your-turn queue of a tutorial, with one defect more for
// each flag.
type turnLine struct {
	conn *zk.Conn
	bad  turnDefects
	own  string
}

type turnDefects struct {
	forEver bool // members' nodes outlive them
	anyWake bool // takes any news of the predecessor for its leaving
	leaves  bool // tells nobody that its request to leave was lost
}

func (l *turnLine) Lock(ctx context.Context) error {
	if _, err := l.conn.Create("/queue", nil, 0, openACL); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	flags := int32(zk.FlagSequence | zk.FlagEphemeral)
	if l.bad.forEver {
		flags = zk.FlagSequence
	}
	own, err := l.conn.Create("/queue/member-", nil, flags, openACL)
	if err != nil {
		return err
	}
	l.own = own
	for {
		names, _, err := l.conn.Children("/queue")
		if err != nil {
			return err
		}
		slices.Sort(names)
		place := slices.Index(names, own[len("/queue/"):])
		if place < 0 {
			return fmt.Errorf("%s is gone", own)
		}
		if place == 0 {
			return nil
		}
		_, _, gone, err := l.conn.GetW("/queue/" + names[place-1])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err == nil {
			err = nap(ctx, gone)
		}
		if err != nil {
			return err
		}
		if l.bad.anyWake {
			return nil
		}
	}
}

func (l *turnLine) Unlock(context.Context) error {
	err := l.conn.Delete(l.own, -1)
	if l.bad.leaves {
		return nil
	}
	return ignored(err)
}

func TestMutantTurnQueuesAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      turnDefects
		property string
	}{
		{"waits for the dead", turnDefects{forEver: true}, linearizability.Liveness},
		{"takes any news for its turn", turnDefects{anyWake: true}, linearizability.Safety},
		{"does not make sure that it has left", turnDefects{leaves: true}, linearizability.Liveness},
		{"joins again behind itself", turnDefects{}, linearizability.Liveness},
	} {
		t.Run(m.about, func(t *testing.T) {
			findsMutant(t, object.TurnQueue(func(env object.Env) object.Locker { return &turnLine{conn: env.Conn, bad: m.bad} }, object.LockClaims{Path: "/queue"}).Named("mutant"), m.property)
		})
	}
}
