package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// errRestart says that an attempt has lost its node, or that the node belongs to another session. A
// new attempt needs a new name.
var errRestart = errors.New("own node is gone")

// protected is a sequential node with a unique name, "_c_<guid>-<kind><sequence>". The name finds
// the node again if the reply to its creation is lost. Curator and zk.Lock use the same form. A
// name is used for one attempt only.
type protected struct {
	dir, kind, guid string
	persistent      bool // otherwise ephemeral, and only worth something in its epoch
	unordered       bool // the number has no meaning, and need not be unique

	path     string // once known
	epoch    epoch  // at the time of creation
	doubtful bool   // a creation with unknown outcome has happened
	vanished bool   // a node may have gone with its session, and another was made
}

// newProtected chooses a name for an ephemeral node in dir.
func newProtected(dir, kind string) (*protected, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	return &protected{dir: dir, kind: kind, guid: guid}, nil
}

// flags returns the flags of the creation.
func (p *protected) flags() int32 {
	if p.persistent {
		return zk.FlagSequence
	}
	return zk.FlagEphemeral | zk.FlagSequence
}

// prefix is the part of the name before the kind. No other node has the same prefix.
func (p *protected) prefix() string { return protectedPrefix + p.guid + "-" }

// protectedPrefix stands before the GUID, as with other clients.
const protectedPrefix = "_c_"

// name is the node's own name within its directory.
func (p *protected) name() string { return baseName(p.path) }

// create makes the node and its missing parents, and finds the node again if the reply is lost. It
// returns errRestart if the node may belong to a session that has ended, and ErrNumbersUsedUp if
// the number may not be unique. Once ctx is done it sends nothing more. After an error the caller
// must call remove.
func (p *protected) create(ctx context.Context, r *requests, data []byte) error {
	if err := p.make(ctx, r, data); err != nil || p.unordered {
		return err
	}
	seq, ok := Sequence(p.name(), p.prefix()+p.kind)
	if !ok {
		return fmt.Errorf("no sequence number in %s", p.path)
	}
	return lastNumber(p.dir, seq)
}

// make is create, but does not check the number.
func (p *protected) make(ctx context.Context, r *requests, data []byte) error {
	var missing backoff
	for p.path == "" {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := p.createOnce(r, data)
		switch {
		case err == nil && !p.persistent && p.epoch.check() != nil:
			// The session changed around the request: the client sends its waiting requests in the
			// new session.
			return p.adopt(ctx, r)
		case errors.Is(err, zk.ErrNoNode):
			err = p.ensureDir(ctx, r, &missing, err)
		case transient(err):
			err = p.recover(ctx, r, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ensureDir creates the missing directory.
func (p *protected) ensureDir(ctx context.Context, r *requests, missing *backoff, why error) error {
	if err := missing.wait(ctx, nil, why); err != nil {
		return err
	}
	return r.ensureDir(ctx, p.dir)
}

// createOnce sends the creation once, and notes an unknown outcome.
func (p *protected) createOnce(r *requests, data []byte) error {
	p.epoch = r.epoch()
	return r.do(func() error {
		path, err := r.conn.Create(join(p.dir, p.prefix()+p.kind), data, p.flags(), r.opts.acl)
		switch OutcomeOf(err) {
		case Applied:
			p.path = path
		case Unknown:
			p.doubtful = true
		}
		return err
	})
}

// recover finds out the outcome of a creation that got no answer. It leaves path empty if the node
// was not created.
func (p *protected) recover(ctx context.Context, r *requests, why error) error {
	if err := r.again(ctx, why); err != nil {
		return err
	}
	if !p.doubtful {
		return nil
	}
	failures := r.backoff
	err := p.adopt(ctx, r)
	if r.opts.retry != nil {
		r.backoff = failures // a policy counts creations: answers to the search do not end the row
	}
	return err
}

// adopt looks for the node, and leaves path empty if there is none. It takes the node over only if
// it belongs to the current session: the node of an ended session is about to vanish (CURATOR-498,
// CURATOR-604).
func (p *protected) adopt(ctx context.Context, r *requests) error {
	names, err := p.search(ctx, r)
	switch {
	case err != nil:
		return err
	case len(names) == 0 && p.path == "":
		p.doubtful, p.vanished = false, p.vanished || p.epoch.check() != nil
		return nil
	case len(names) != 1:
		p.doubtful = true
		return errRestart
	}
	p.path, p.doubtful = join(p.dir, names[0]), false
	if p.persistent {
		return nil
	}
	_, stat, err := r.get(ctx, p.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return errRestart
	case err != nil:
		return err
	}
	p.epoch = r.epoch()
	if !p.epoch.owns(stat) {
		return errRestart
	}
	return nil
}

// search returns the names of the nodes with the own GUID. The result is final: a request without a
// reply is applied before the next sync of the same session, or never. The server syncs its whole
// tree, whatever the path. The path distinguishes this search from requests of other goroutines at
// the same moment.
func (p *protected) search(ctx context.Context, r *requests) ([]string, error) {
	names, err := freshResult(ctx, r, join(p.dir, p.prefix()), func() ([]string, error) {
		names, err := r.children(ctx, p.dir)
		return names, ignore(err, zk.ErrNoNode)
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, p.prefix())
	}), nil
}

// remove deletes all nodes of the creation. It returns when the server has confirmed that none is
// left, when the server refuses, or when the Conn is closed.
func (p *protected) remove(r *requests) error {
	if p.path != "" && !p.doubtful {
		return r.remove(p.path)
	}
	if !p.doubtful {
		return nil
	}
	names, err := p.search(context.Background(), r)
	if err != nil {
		return fmt.Errorf("look for %s%s* to delete it: %w", join(p.dir, p.prefix()), p.kind, err)
	}
	for _, name := range names {
		if err := r.remove(join(p.dir, name)); err != nil {
			return err
		}
	}
	return nil
}
