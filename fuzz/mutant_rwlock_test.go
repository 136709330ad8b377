package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// mutantRWLocks are deliberately wrong read-write locks.
var mutantRWLocks = []struct {
	about    string
	bad      rwDefects
	property string
}{
	{"readers wait for nobody", rwDefects{deafReaders: true}, linearizability.Safety},
	{"writers wait for writers only", rwDefects{blindWriters: true}, linearizability.Safety},
	{"whoever is woken owns the lock", rwDefects{noRecheck: true}, linearizability.Safety},
	{"a writer who reads on stands at the end of the queue", rwDefects{tailDowngrade: true}, linearizability.Safety},
	{"readers pass waiting writers", rwDefects{barging: true}, linearizability.Order},
	{"all wait for the oldest node", rwDefects{watchOldest: true}, linearizability.Herd},
	{"the first unlock of two gives the lock up", rwDefects{shallow: true}, linearizability.Safety},
}

func TestMutantRWLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutantRWLocks {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantRWLock(m.bad), m.property) })
	}
}

func mutantRWLock(bad rwDefects) scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return &seqRWLock{read: seqSide{conn: env.Conn, kind: "read-", bad: bad}, write: seqSide{conn: env.Conn, kind: "write-", bad: bad}}
	}, object.LockClaims{Fair: true, MaxHerd: 1}).Named("mutant")
}

// TestSameRWLockWithoutDefectSurvives is the control: it is right as long as
// nothing fails.
func TestSameRWLockWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	holdsUndisturbed(t, mutantRWLock(rwDefects{}), 50)
}

type rwDefects struct {
	deafReaders   bool // readers wait for nobody
	blindWriters  bool // writers wait for writers only
	noRecheck     bool // no second look after the watch has fired
	tailDowngrade bool // the reader's node of a writer is the youngest
	barging       bool // readers wait for a writer only if he is the oldest
	watchOldest   bool // all wait for the oldest node
	shallow       bool // locks are not counted
}

// seqRWLock is a small read-write lock on the same nodes as recipes.RWLock.
type seqRWLock struct{ read, write seqSide }

func (l *seqRWLock) Lock(ctx context.Context) error  { return l.write.lock(ctx, "") }
func (l *seqRWLock) Unlock(context.Context) error    { return l.write.unlock() }
func (l *seqRWLock) RLock(ctx context.Context) error { return l.read.lock(ctx, l.write.own) }
func (l *seqRWLock) RUnlock(context.Context) error   { return l.read.unlock() }
func (l *seqRWLock) Token() int64                    { return l.write.token }
func (l *seqRWLock) RToken() int64                   { return l.read.token }

// seqSide is one way to hold it.
type seqSide struct {
	conn  *zk.Conn
	kind  string
	bad   rwDefects
	own   string // path of the own node
	depth int
	token int64
}

// lock goes a level deeper or queues; beside is the own writer's node.
func (s *seqSide) lock(ctx context.Context, beside string) error {
	if s.own != "" {
		s.depth++
		return nil
	}
	if err := s.create(beside); err != nil {
		return err
	}
	for ctx.Err() == nil {
		ahead, err := s.ahead()
		if err != nil {
			return errors.Join(err, s.leave())
		}
		if ahead == "" || beside != "" || s.await(ctx, ahead) && s.bad.noRecheck {
			return s.enter(beside)
		}
	}
	return errors.Join(ctx.Err(), s.leave())
}

// create makes the own node, at the place of the own writer's.
func (s *seqSide) create(beside string) (err error) {
	if _, err := s.conn.Create("/rwlock", nil, 0, openACL); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if beside != "" && !s.bad.tailDowngrade {
		name := fmt.Sprintf("/rwlock/%x-%s%s", s.conn.SessionID(), s.kind, sequence(beside))
		s.own, err = s.conn.Create(name, nil, zk.FlagEphemeral, openACL)
		return err
	}
	s.own, err = s.conn.CreateProtectedEphemeralSequential("/rwlock/"+s.kind, nil, openACL)
	return err
}

// enter begins to hold the lock.
func (s *seqSide) enter(beside string) error {
	if beside == "" || s.bad.tailDowngrade {
		beside = s.own
	}
	_, stat, err := s.conn.Get(beside)
	if err != nil {
		return errors.Join(err, s.leave())
	}
	s.depth, s.token = 1, stat.Czxid
	return nil
}

// ahead is whom to wait for, "" if the lock is owned.
func (s *seqSide) ahead() (string, error) {
	names, _, err := s.conn.Children("/rwlock")
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sequence(a), sequence(b)) })
	older := names[:max(0, slices.Index(names, strings.TrimPrefix(s.own, "/rwlock/")))]
	reads := s.kind == "read-"
	if reads && s.bad.barging && len(older) > 0 && strings.Contains(older[0], "read-") {
		return "", nil
	}
	if reads || s.bad.blindWriters {
		older = slices.DeleteFunc(older, func(name string) bool { return strings.Contains(name, "read-") })
	}
	switch {
	case len(older) == 0, reads && s.bad.deafReaders:
		return "", nil
	case s.bad.watchOldest:
		return older[0], nil
	}
	return older[len(older)-1], nil
}

// await reports whether the node's watch has fired.
func (s *seqSide) await(ctx context.Context, name string) bool {
	_, _, gone, err := s.conn.GetW("/rwlock/" + name)
	if err != nil {
		return false
	}
	select {
	case <-gone:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *seqSide) unlock() error {
	if s.depth--; s.depth > 0 && !s.bad.shallow || s.own == "" {
		return nil
	}
	return s.leave()
}

func (s *seqSide) leave() error {
	own := s.own
	s.own, s.depth = "", 0
	if own == "" {
		return nil
	}
	return s.conn.Delete(own, -1)
}
