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
)

// TestMutantVersionRWLocksAreFound: the design of the tutorials, with one of its
// mistakes.
func TestMutantVersionRWLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      versionDefects
		property string
	}{
		{"looks and then enters", versionDefects{twoSteps: true}, linearizability.Safety},
		{"reads the version after it has looked", versionDefects{late: true}, linearizability.Safety},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantVersionRWLock(m.bad), m.property) })
	}
}

// TestSameVersionRWLockWithoutDefectSurvives is the control: it is right as long
// as nothing fails.
func TestSameVersionRWLockWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	holdsUndisturbed(t, mutantVersionRWLock(versionDefects{}), 50)
}

func mutantVersionRWLock(bad versionDefects) scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return &versionLock{read: versionSide{conn: env.Conn, kind: "read-", bad: bad}, write: versionSide{conn: env.Conn, kind: "write-", bad: bad}}
	}).Named("mutant")
}

type versionDefects struct {
	twoSteps bool // looks, and enters whatever has happened since
	late     bool // reads the version after the children
}

type versionLock struct{ read, write versionSide }

func (l *versionLock) Lock(ctx context.Context) error  { return l.write.lock(ctx, "") }
func (l *versionLock) Unlock(context.Context) error    { return l.write.unlock() }
func (l *versionLock) RLock(ctx context.Context) error { return l.read.lock(ctx, l.write.own) }
func (l *versionLock) RUnlock(context.Context) error   { return l.read.unlock() }
func (l *versionLock) Token() int64                    { return l.write.token }
func (l *versionLock) RToken() int64                   { return l.read.token }

// versionSide is one way to be in.
type versionSide struct {
	conn  *zk.Conn
	kind  string
	bad   versionDefects
	own   string // name of the own node
	tries int
	depth int
	token int64
}

// lock asks every few milliseconds whether the way is free; beside does not bar it.
func (s *versionSide) lock(ctx context.Context, beside string) error {
	if s.own != "" {
		s.depth++
		return nil
	}
	if _, err := s.conn.Create("/rwlock", nil, 0, openACL); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	for ; ctx.Err() == nil; time.Sleep(3 * time.Millisecond) {
		free, version, err := s.look(beside)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		in, err := s.enter(version)
		if in || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// look reports whether the way is free, and the version to which that applies.
func (s *versionSide) look(beside string) (free bool, version int32, err error) {
	_, before, err := s.conn.Get("/rwlock")
	if err != nil {
		return false, 0, err
	}
	names, _, err := s.conn.Children("/rwlock")
	if err != nil {
		return false, 0, err
	}
	if s.bad.late {
		if _, before, err = s.conn.Get("/rwlock"); err != nil {
			return false, 0, err
		}
	}
	for _, name := range names {
		if name != beside && (s.kind == "write-" || strings.HasPrefix(name, "write-")) {
			return false, 0, nil
		}
	}
	return true, before.Version, nil
}

// enter reports whether nobody came first.
func (s *versionSide) enter(version int32) (in bool, err error) {
	if s.bad.twoSteps {
		version = -1
	}
	s.tries++
	name := fmt.Sprintf("%s%x-%d", s.kind, s.conn.SessionID(), s.tries)
	_, err = s.conn.Multi(
		&zk.SetDataRequest{Path: "/rwlock", Version: version},
		&zk.CreateRequest{Path: "/rwlock/" + name, Acl: openACL, Flags: zk.FlagEphemeral},
	)
	if errors.Is(err, zk.ErrBadVersion) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, stat, err := s.conn.Get("/rwlock/" + name)
	if err != nil {
		return false, errors.Join(err, s.conn.Delete("/rwlock/"+name, -1))
	}
	s.own, s.depth, s.token = name, 1, stat.Czxid
	return true, nil
}

func (s *versionSide) unlock() error {
	if s.depth--; s.depth > 0 || s.own == "" {
		return nil
	}
	own := s.own
	s.own, s.depth = "", 0
	return s.conn.Delete("/rwlock/"+own, -1)
}
