package gallery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var plantedVersionLocks = []Exhibit{
	{
		Title: "looks and then enters", Property: linearizability.Safety,
		Wrong: versionLockOf(true, false),
	},
	{
		Title: "reads the version after it has looked", Property: linearizability.Safety,
		Wrong: versionLockOf(false, true),
	},
}

// versionLock is the read-write lock of tutorials around one node: whoever enters has
// to change the node in the version in which it saw the way free.
type versionLock struct{ read, write versionSide }

// versionLockOf is a workload of it. A lock of two steps enters whatever has happened
// since its look; a late one reads the version after the children.
func versionLockOf(twoSteps, late bool) scenario.Workload {
	return beside(object.RWLock(func(env object.Env) object.RWLocker {
		side := func(mode string) versionSide {
			return versionSide{conn: env.Conn, mode: mode, twoSteps: twoSteps, late: late}
		}
		return &versionLock{read: side(ops.ReadMode), write: side(ops.WriteMode)}
	}, claims).Named(""), lockDir)
}

func (l *versionLock) Lock(ctx context.Context) error  { return l.write.lock(ctx, "") }
func (l *versionLock) Unlock(context.Context) error    { return l.write.unlock() }
func (l *versionLock) RLock(ctx context.Context) error { return l.read.lock(ctx, l.write.own) }
func (l *versionLock) RUnlock(context.Context) error   { return l.read.unlock() }
func (l *versionLock) Token() int64                    { return l.write.token }
func (l *versionLock) RToken() int64                   { return l.read.token }

// versionSide is one way to be in.
type versionSide struct {
	conn           *zk.Conn
	mode           string
	twoSteps, late bool
	own            string // name of the own node
	tries, depth   int
	token          int64
}

// lock asks every few milliseconds whether the way is free; beside does not bar it.
func (s *versionSide) lock(ctx context.Context, beside string) error {
	if s.own != "" {
		s.depth++
		return nil
	}
	for ; ctx.Err() == nil; time.Sleep(3 * time.Millisecond) {
		free, version, err := s.look(beside)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		if in, err := s.enter(version); in || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// look reports whether the way is free, and the version to which that applies.
func (s *versionSide) look(beside string) (free bool, version int32, err error) {
	_, before, err := s.conn.Get(lockDir)
	if err != nil {
		return false, 0, err
	}
	names, _, err := s.conn.Children(lockDir)
	if err == nil && s.late {
		_, before, err = s.conn.Get(lockDir)
	}
	if err != nil {
		return false, 0, err
	}
	for _, name := range names {
		if name != beside && (s.mode == ops.WriteMode || !reads(name)) {
			return false, 0, nil
		}
	}
	return true, before.Version, nil
}

// enter reports whether nobody came first.
func (s *versionSide) enter(version int32) (in bool, err error) {
	if s.twoSteps {
		version = -1
	}
	s.tries++
	name := fmt.Sprintf("%s-%x-%d", s.mode, s.conn.SessionID(), s.tries)
	_, err = s.conn.Multi(
		&zk.SetDataRequest{Path: lockDir, Version: version},
		&zk.CreateRequest{Path: lockDir + "/" + name, Acl: acl, Flags: zk.FlagEphemeral},
	)
	if errors.Is(err, zk.ErrBadVersion) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, stat, err := s.conn.Get(lockDir + "/" + name)
	if err != nil {
		return false, errors.Join(err, s.conn.Delete(lockDir+"/"+name, -1))
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
	return s.conn.Delete(lockDir+"/"+own, -1)
}
