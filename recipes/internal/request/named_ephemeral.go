package request

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// NamedEphemeral is an ephemeral node of a given name, such as that of an instance in a registry.
// Two of them with one name on one session would take the same node for theirs, so use a name once
// per session.
type NamedEphemeral struct {
	Path  string
	Epoch Epoch    // of the latest creation request; zero: none was sent
	stat  *zk.Stat // read after the creation

	Doubtful bool // a creation may have been applied
}

// Create makes the node, parents included, unless an earlier request of this session has made it.
// zk.ErrNodeExists means that the node belongs to another session, perhaps an ended one of this
// process. ErrRestart means that the session has ended meanwhile. After any other error the caller
// must call Remove.
func (f *NamedEphemeral) Create(r *Sender, data []byte) error {
	for {
		if err := r.Over(); err != nil {
			return err
		}
		f.Epoch = r.Epoch()
		err := f.createOnce(r, data)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return f.confirm(r, err)
		case errors.Is(err, zk.ErrNoNode):
			err = r.EnsureDir(Parent(f.Path))
		case Transient(err):
			err = r.Again(err)
		}
		if err != nil {
			return err
		}
	}
}

// createOnce sends the creation once.
func (f *NamedEphemeral) createOnce(r *Sender, data []byte) error {
	return r.Do(func() error {
		_, err := r.Conn.Create(f.Path, data, zk.FlagEphemeral, r.Opts.ACL)
		f.Doubtful = f.Doubtful || OutcomeOf(err) != NotApplied
		return err
	})
}

// confirm reads the node. A nil error why says that it was created just now; otherwise it existed
// already.
func (f *NamedEphemeral) confirm(r *Sender, why error) error {
	_, stat, err := r.Get(f.Path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return ErrRestart
	case err != nil:
		return err
	case f.Epoch.Owns(stat):
		f.stat = stat
		return nil
	case stat.EphemeralOwner == r.Conn.SessionID():
		return ErrRestart // made in a session that has begun meanwhile
	}
	if why == nil {
		why = ErrRestart
	}
	return why
}

// Remove deletes the node if it belongs to the present session. It returns when the server has
// confirmed or refused that, or when the Conn is closed. The node of an ended session goes with
// that session. Remove must spare the node of the next owner of the name, so it reads the owner
// before each request and sends the version that it has read.
//
// One window remains, as a request has a path and a version but no czxid. Another client may delete
// the node while the request is on its way. Or the connection may be lost just after the read, and
// the client sends the request later, perhaps in a new session. If a third client has made a node
// of the same version meanwhile, the request deletes that node.
func (f *NamedEphemeral) Remove(r *Sender) error {
	if !f.Doubtful {
		return nil
	}
	r = r.Unbounded()
	var tries Backoff
	for {
		stat, err := f.left(r)
		if err != nil {
			return fmt.Errorf("look at %s to delete it: %w", f.Path, err)
		}
		if stat == nil {
			return nil
		}
		err = r.Do(func() error { return r.Conn.Delete(f.Path, stat.Version) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !Transient(err) && !errors.Is(err, zk.ErrBadVersion):
			return fmt.Errorf("delete %s: %w", f.Path, err)
		}
		if err := tries.Wait(r.Ctx, nil, err); err != nil {
			return err
		}
	}
}

// left returns the stat of the node if it belongs to the present session, and nil otherwise.
func (f *NamedEphemeral) left(r *Sender) (*zk.Stat, error) {
	if err := r.Confirm(f.Path); err != nil {
		return nil, err
	}
	_, stat, err := r.Get(f.Path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	case !r.Epoch().Owns(stat):
		return nil, nil
	}
	return stat, nil
}
