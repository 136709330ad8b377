package museum

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func vanishedParent() Exhibit {
	return Exhibit{
		ID: "B29", Title: "the parent is gone",
		Report: "https://github.com/apache/curator/pull/149", See: []string{"CURATOR-388", "CURATOR-724"},
		Bug: "The directory is a container, made when the recipe starts. The server removes it after the last node in it, and " +
			"from then on every create fails with NoNode: nobody gets the lock any more.",
		Property: linearizability.Liveness,
		Wrong:    idle(func(*inContainer) error { return zk.ErrNoNode }), // wrong: it was made once, and is expected to stay
		Right:    idle((*inContainer).makeDir),
		Script:   scenario.Script{Clients: 1, Rounds: 2},
	}
}

// inContainer is a lock in a container.
type inContainer struct {
	*naked
	made  bool
	again func(*inContainer) error // when the container is missing
}

func (l *inContainer) makeDir() error {
	_, err := l.conn.CreateContainer(l.dir, nil, zk.FlagContainer, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	l.made = true
	return nil
}

func (l *inContainer) Lock(ctx context.Context) error {
	for !l.made {
		if err := l.makeDir(); err != nil {
			return err
		}
	}
	return l.naked.Lock(ctx)
}

// joinInside makes the own node, and the container if it is missing and that is done.
func (l *inContainer) joinInside() (err error) {
	if l.own != "" {
		return nil
	}
	l.prefix = l.naming()
	for range attempts {
		var made string
		made, err = l.conn.Create(l.path(l.prefix), nil, zk.FlagEphemeral|zk.FlagSequence, acl)
		if err == nil {
			l.own = path.Base(made)
			return nil
		}
		if errors.Is(err, zk.ErrNoNode) {
			if err := l.again(l); err != nil {
				return err
			}
			continue
		}
		if found, err := l.find(); found || err != nil {
			return err
		}
	}
	return err
}

// idle is a workload of a lock that nobody wants for a while after each round, so that
// an empty container is removed.
func idle(again func(*inContainer) error) scenario.Workload {
	w := openLock(nil)
	w.Nodes = nil
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := &inContainer{naked: newNaked(p.Conn(), lockDir), again: again}
		l.join = l.joinInside
		for round := range s.Rounds {
			playRound(p, l, "", round)
			p.Pause(idleTime)
		}
	}
	length := w.Length
	w.Length = func(s scenario.Script) time.Duration { return length(s) + time.Duration(s.Rounds)*idleTime }
	return w
}

// idleTime is longer than the server takes to remove an empty container.
const idleTime = 3 * time.Minute
