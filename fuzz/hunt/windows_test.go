package hunt_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// namedLock is one node with the name of its holder, who deletes it after a look at the name: by
// then it may be the node of the next holder.
type namedLock struct {
	conn *zk.Conn
	name string
}

const namedNode = "/lock"

func (l *namedLock) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(namedNode, []byte(l.name), zk.FlagEphemeral,
			zk.WorldACL(zk.PermAll))
		if err == nil || !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		there, _, changed, err := l.conn.ExistsW(namedNode)
		switch {
		case err != nil:
			return err
		case !there:
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *namedLock) Unlock(context.Context) error {
	data, _, err := l.conn.Get(namedNode)
	if err != nil || string(data) != l.name {
		return err
	}
	return l.conn.Delete(namedNode, -1)
}

// TestReadsThatAreOldWhenTheyArrive are met within 500 scenarios, and accuse no right lock.
func TestReadsThatAreOldWhenTheyArrive(t *testing.T) {
	open := func(env object.Env) object.Locker { return &namedLock{env.Conn, env.Name} }
	for _, w := range []scenario.Workload{
		object.Lock(open).Named("named"), fuzztest.Builtin(t, "lock", ""),
	} {
		found, err := hunt.Hunt{
			Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: 500,
			Strategies: []string{"sweep", "pairs"}, Properties: []string{"safety"}, Findings: 9,
		}.Run(t.Context())
		check.OK(t, err)
		stolen := slices.ContainsFunc(found.Findings, func(f hunt.Finding) bool {
			return strings.Contains(f.Summary(), " deleted ")
		})
		wrong := w.Impl == "named"
		if stolen != wrong || !wrong && len(found.Findings) > 0 {
			t.Errorf("%s: another's node is deleted: %v; %d findings", w.Impl, stolen,
				len(found.Findings))
		}
	}
}

// ownedLock is namedLock without its other mistakes: each hold has a name of its own, and a request
// of unknown outcome is followed by a look.
type ownedLock struct {
	conn *zk.Conn
	name string
	hold int

	// cleans says that the lock deletes the node of its earlier process, after a look.
	cleans bool
	made   bool // this process may have made the node
}

func (l *ownedLock) owner() string { return fmt.Sprint(l.name, l.hold) }

func (l *ownedLock) Lock() error {
	for l.hold++; ; {
		_, err := l.conn.Create(namedNode, []byte(l.owner()), zk.FlagEphemeral,
			zk.WorldACL(zk.PermAll))
		l.made = l.made || !errors.Is(err, zk.ErrNodeExists)
		owner, stat, changed, err := l.conn.GetW(namedNode)
		switch {
		case errors.Is(err, zk.ErrClosing):
			return err
		case errors.Is(err, zk.ErrNoNode):
		case err != nil:
			time.Sleep(50 * time.Millisecond)
		case string(owner) == l.owner() && stat.EphemeralOwner == l.conn.SessionID():
			return nil
		case l.cleans && !l.made && strings.TrimRight(string(owner), "0123456789") == l.name:
			_ = l.conn.Delete(namedNode, -1)
		default:
			<-changed
		}
	}
}

func (l *ownedLock) Unlock() error {
	for {
		owner, _, err := l.conn.Get(namedNode)
		if err == nil && string(owner) == l.owner() {
			err = l.conn.Delete(namedNode, -1)
		}
		if err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrClosing) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// deafLock never tells of a loss.
type deafLock struct{ object.Locker }

func (deafLock) Lost() <-chan struct{} { return make(chan struct{}) }

// TestTimesThatRunsTell meet the end of a session between a look and what follows from it, and in a
// hold. The session may be that of the process before.
func TestTimesThatRunsTell(t *testing.T) {
	cleaner := func(env object.Env) object.BlockingLocker {
		return &ownedLock{conn: env.Conn, name: env.Name, cleans: true}
	}
	for _, w := range []struct {
		scenario.Workload
		property, says string
	}{
		{object.BlockingLock(cleaner, object.LockClaims{Handles: object.OneHandle}).Named("reborn"),
			"safety", "' deleted "},
		{object.BlockingLock(func(env object.Env) object.BlockingLocker {
			return &ownedLock{conn: env.Conn, name: env.Name}
		}).Named("owned"), "safety", ""},
		{object.Lock(func(env object.Env) object.Locker {
			return deafLock{Locker: recipes.NewLock(env.Conn, env.Path)}
		}).Named("deaf"), "belief", ""},
	} {
		for seed := range uint64(3) {
			found, err := hunt.Hunt{
				Workload: w.Workload, Script: scenario.DefaultScript, Seed: seed + 1, Runs: 800,
				Properties: []string{w.property},
				Counts: func(o *scenario.Outcome) bool {
					return strings.Contains(o.Summary(), w.says)
				},
			}.Run(t.Context())
			check.OK(t, err)
			if len(found.Findings) == 0 {
				t.Errorf("%s, seed %d: nothing found", w.Impl, seed+1)
			} else {
				t.Logf("%s, seed %d: scenario %d", w.Impl, seed+1, found.Findings[0].Runs)
			}
		}
	}
}

// deafToSync is a connection whose sync does nothing.
type deafToSync struct{ *zk.Conn }

func (deafToSync) Sync(path string) (string, error) { return path, nil }

// TestCallsAfterAnswers: on three servers a look at a queue without a sync shows an element that
// another client has taken before. A right queue is not accused.
func TestCallsAfterAnswers(t *testing.T) {
	script := scenario.DefaultScript
	script.Servers = 3
	for _, w := range []scenario.Workload{
		object.Queue(func(env object.Env) object.Queuer {
			return recipes.NewQueue(deafToSync{env.Conn}, env.Path, recipes.SyncOnly())
		}, object.QueueClaims{Items: "/queue/items"}).Named("deaf"),
		fuzztest.Builtin(t, "queue", ""),
	} {
		for _, seed := range []uint64{1, 3} { // they have a peek
			found, err := hunt.Hunt{
				Workload: w, Script: script, Seed: seed, Runs: 120,
				Strategies: []string{"sweep", "pairs"}, Properties: []string{"linearizability"},
			}.Run(t.Context())
			check.OK(t, err)
			if wrong := w.Impl == "deaf"; wrong != (len(found.Findings) > 0) {
				t.Errorf("%s, seed %d: %d findings", w.Impl, seed, len(found.Findings))
			}
		}
	}
}
