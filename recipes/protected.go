package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// errRestart says that an attempt has lost its node, or that the node belongs
// to a session that is not ours, and that a new attempt with a new name is
// needed.
var errRestart = errors.New("own node is gone")

// protected is an ephemeral sequential node with a name of our own,
// "_c_<guid>-<kind><sequence>", so that it can be found again when the reply
// to its creation is lost. This is the naming of Curator and of zk.Lock. A
// name is used for one attempt only.
type protected struct {
	dir, kind, guid string

	path     string // once known
	session  int64  // at the time of creation
	doubtful bool   // a creation with unknown outcome has happened
}

// newProtected chooses a name for a node in dir.
func newProtected(dir, kind string) (*protected, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	return &protected{dir: dir, kind: kind, guid: guid}, nil
}

// prefix is the name up to the kind, which no other node shares.
func (p *protected) prefix() string { return protectedPrefix + p.guid + "-" }

// protectedPrefix is what the clients put before the GUID.
const protectedPrefix = "_c_"

// name is the node's own name within its directory.
func (p *protected) name() string { return p.path[strings.LastIndex(p.path, "/")+1:] }

// create makes the node, parents included, and finds it again when the reply
// is lost. It returns errRestart when the node may belong to a session that
// has ended. Once ctx is done it sends nothing more. After an error remove must
// be called.
func (p *protected) create(ctx context.Context, r *requests, data []byte, acl []zk.ACL) error {
	var missing backoff
	for p.path == "" {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := p.createOnce(r, data, acl)
		switch {
		case err == nil && (p.session == 0 || p.session != r.conn.SessionID()):
			// The session changed around the request: the client sends what
			// was waiting in its queue in the new session.
			return p.adopt(ctx, r)
		case errors.Is(err, zk.ErrNoNode):
			err = p.ensureDir(ctx, r, &missing, acl)
		case transient(err):
			err = p.recover(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ensureDir creates the missing directory. That somebody deletes it meanwhile
// is no error: the creation is tried again.
func (p *protected) ensureDir(ctx context.Context, r *requests, missing *backoff, acl []zk.ACL) error {
	if err := missing.wait(ctx); err != nil {
		return err
	}
	err := r.ensure(ctx, p.dir, acl)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// createOnce sends the creation once and notes what it can have left behind.
func (p *protected) createOnce(r *requests, data []byte, acl []zk.ACL) error {
	p.session = r.conn.SessionID()
	return r.do(func() error {
		path, err := r.conn.Create(join(p.dir, p.prefix()+p.kind), data, zk.FlagEphemeral|zk.FlagSequence, acl)
		switch OutcomeOf(err) {
		case Applied:
			p.path = path
		case Unknown:
			p.doubtful = true
		}
		return err
	})
}

// recover settles a creation that failed on the way. It leaves path empty if
// the node was not created.
func (p *protected) recover(ctx context.Context, r *requests) error {
	if err := r.backoff.wait(ctx); err != nil {
		return err
	}
	if !p.doubtful {
		return nil
	}
	return p.adopt(ctx, r)
}

// adopt looks for the node, and leaves path empty if it was never created. It
// takes the node over only if it belongs to the current session: one that an
// ended session has left behind is about to vanish (CURATOR-498, CURATOR-604).
func (p *protected) adopt(ctx context.Context, r *requests) error {
	names, err := p.search(ctx, r)
	switch {
	case err != nil:
		return err
	case len(names) == 0 && p.path == "":
		p.doubtful = false
		return nil
	case len(names) != 1:
		p.doubtful = true
		return errRestart
	}
	p.path, p.doubtful = join(p.dir, names[0]), false
	_, stat, err := r.get(ctx, p.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return errRestart
	case err != nil:
		return err
	case stat.EphemeralOwner != r.conn.SessionID():
		return errRestart
	}
	p.session = stat.EphemeralOwner
	return nil
}

// search returns the names of the nodes with our GUID. Its answer is final: a
// request that was cut off is applied before the sync that follows it on the
// same session, or never.
func (p *protected) search(ctx context.Context, r *requests) ([]string, error) {
	if err := r.sync(ctx, p.dir); err != nil {
		return nil, err
	}
	names, err := r.children(ctx, p.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.own(names), nil
}

// own returns the names that carry our GUID.
func (p *protected) own(names []string) []string {
	var own []string
	for _, name := range names {
		if strings.HasPrefix(name, p.prefix()) {
			own = append(own, name)
		}
	}
	return own
}

// remove deletes whatever the creation has left behind, and returns only when
// the server has confirmed that nothing is there, refuses, or the Conn is
// closed.
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
