package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

var openACL = zk.WorldACL(zk.PermAll)

// seqLock is a small lock that is right, as far as single faults go, with the
// zero defects; each defect makes it wrong in one way.
type seqLock struct {
	conn *zk.Conn
	bad  lockDefects
	own  string // path of the own node
}

type lockDefects struct {
	blindCreate  bool // repeats a create whose reply was lost
	watchLowest  bool // all wait for the owner instead of their predecessor
	sortByString bool // orders by the whole name, which begins with a GUID
	anySession   bool // owns through a node of a session that has ended
	deafUnlock   bool // takes a failed delete for a release
	noRead       bool // takes a successful create for the lock
}

func (l *seqLock) Lock(ctx context.Context) error {
	if err := l.join(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if l.bad.noRead {
			return nil
		}
		ahead, err := l.ahead()
		switch {
		case errors.Is(err, errNotMine):
			if err := l.join(); err != nil {
				return err
			}
		case err != nil: // the next request waits for the connection
		case ahead == "":
			return nil
		default:
			l.await(ctx, ahead)
		}
	}
	return errors.Join(ctx.Err(), l.leave())
}

// join creates the own node.
func (l *seqLock) join() (err error) {
	for range attempts {
		_, err = l.conn.Create("/lock", nil, 0, openACL)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			break
		}
	}
	for range attempts {
		if l.bad.blindCreate {
			l.own, err = l.conn.Create("/lock/n-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
		} else {
			l.own, err = l.conn.CreateProtectedEphemeralSequential("/lock/n-", nil, openACL)
		}
		if !errors.Is(err, zk.ErrConnectionClosed) {
			break
		}
	}
	return err
}

// attempts bound repetitions: after the end of a World every request fails.
const attempts = 10

var errNotMine = errors.New("own node is gone")

// ahead is whom to wait for, "" if the lock is owned.
func (l *seqLock) ahead() (string, error) {
	names, _, err := l.conn.Children("/lock")
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, l.order)
	i := slices.Index(names, strings.TrimPrefix(l.own, "/lock/"))
	if i < 0 {
		return "", errNotMine
	}
	if i > 0 && l.bad.watchLowest {
		return names[0], nil
	}
	if i > 0 {
		return names[i-1], nil
	}
	_, stat, err := l.conn.Get(l.own)
	if errors.Is(err, zk.ErrNoNode) || err == nil && stat.EphemeralOwner != l.conn.SessionID() && !l.bad.anySession {
		return "", errNotMine
	}
	return "", err
}

func (l *seqLock) order(a, b string) int {
	if l.bad.sortByString {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(sequence(a), sequence(b))
}

func sequence(name string) string { return name[max(0, len(name)-10):] }

func (l *seqLock) await(ctx context.Context, name string) {
	_, _, gone, err := l.conn.GetW("/lock/" + name)
	if err != nil {
		return
	}
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// leave deletes the own node.
func (l *seqLock) leave() (err error) {
	for range attempts {
		err = l.conn.Delete(l.own, -1)
		if errors.Is(err, zk.ErrNoNode) || l.bad.deafUnlock {
			return nil
		}
		if err == nil {
			break
		}
	}
	return err
}

func (l *seqLock) Unlock(context.Context) error { return l.leave() }

// everybodysLock is owned by whoever asks.
type everybodysLock struct{}

func (everybodysLock) Lock(context.Context) error   { return nil }
func (everybodysLock) Unlock(context.Context) error { return nil }
