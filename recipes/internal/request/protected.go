package request

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Protected is a sequential node with a unique name, "_c_<guid>-<kind><sequence>". The name finds
// the node again if the reply to its creation is lost. Curator and zk.Lock use the same form. A
// name is used for one attempt only.
type Protected struct {
	dir, kind, guid string
	Persistent      bool // otherwise ephemeral, and only worth something in its epoch
	Unordered       bool // the number has no meaning, and need not be unique

	Path     string // once known
	Epoch    Epoch  // at the time of creation
	Doubtful bool   // a creation with unknown outcome has happened
	Vanished bool   // a node may have gone with its session, and another was made
}

// NewProtected chooses a name for an ephemeral node in dir.
func NewProtected(dir, kind string) (*Protected, error) {
	guid, err := NewGUID()
	if err != nil {
		return nil, err
	}
	return &Protected{dir: dir, kind: kind, guid: guid}, nil
}

// flags returns the flags of the creation.
func (p *Protected) flags() int32 {
	if p.Persistent {
		return zk.FlagSequence
	}
	return zk.FlagEphemeral | zk.FlagSequence
}

// prefix is the part of the name before the kind. No other node has the same prefix.
func (p *Protected) prefix() string { return ProtectedPrefix + p.guid + "-" }

// ProtectedPrefix stands before the GUID, as with other clients.
const ProtectedPrefix = "_c_"

// Name is the node's own name within its directory.
func (p *Protected) Name() string { return BaseName(p.Path) }

// Create makes the node and its missing parents, and finds the node again if the reply is lost. It
// returns ErrRestart if the node may belong to a session that has ended, and ErrNumbersUsedUp if
// the number may not be unique. Once the operation is over it sends nothing more. After an error
// the caller must call Remove.
func (p *Protected) Create(r *Sender, data []byte) error {
	if err := p.make(r, data); err != nil || p.Unordered {
		return err
	}
	seq, ok := Sequence(p.Name(), p.prefix()+p.kind)
	if !ok {
		return fmt.Errorf("no sequence number in %s", p.Path)
	}
	return LastNumber(p.dir, seq)
}

// make is Create, but does not check the number.
func (p *Protected) make(r *Sender, data []byte) error {
	var missing Backoff
	for p.Path == "" {
		if err := r.Over(); err != nil {
			return err
		}
		err := p.createOnce(r, data)
		switch {
		case err == nil && !p.Persistent && p.Epoch.Check() != nil:
			// The session changed around the request: the client sends its waiting requests in the
			// new session.
			return p.adopt(r)
		case errors.Is(err, zk.ErrNoNode):
			err = p.ensureDir(r, &missing, err)
		case Transient(err):
			err = p.recover(r, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ensureDir creates the missing directory.
func (p *Protected) ensureDir(r *Sender, missing *Backoff, why error) error {
	if err := missing.Wait(r.Ctx, nil, why); err != nil {
		return err
	}
	return r.EnsureDir(p.dir)
}

// createOnce sends the creation once, and notes an unknown outcome.
func (p *Protected) createOnce(r *Sender, data []byte) error {
	p.Epoch = r.Epoch()
	return r.Do(func() error {
		path, err := r.Conn.Create(Join(p.dir, p.prefix()+p.kind), data, p.flags(), r.Opts.ACL)
		switch OutcomeOf(err) {
		case Applied:
			p.Path = path
		case Unknown:
			p.Doubtful = true
		}
		return err
	})
}

// recover finds out the outcome of a creation that got no answer. It leaves Path empty if the node
// was not created.
func (p *Protected) recover(r *Sender, why error) error {
	if err := r.Again(why); err != nil {
		return err
	}
	if !p.Doubtful {
		return nil
	}
	failures := r.backoff
	err := p.adopt(r)
	if r.Opts.Retry != nil {
		r.backoff = failures // a policy counts creations: answers to the search do not end the row
	}
	return err
}

// adopt looks for the node, and leaves Path empty if there is none. It takes the node over only if
// it belongs to the current session: the node of an ended session is about to vanish (CURATOR-498,
// CURATOR-604).
func (p *Protected) adopt(r *Sender) error {
	names, err := p.search(r)
	switch {
	case err != nil:
		return err
	case len(names) == 0 && p.Path == "":
		p.Doubtful, p.Vanished = false, p.Vanished || p.Epoch.Check() != nil
		return nil
	case len(names) != 1:
		p.Doubtful = true
		return ErrRestart
	}
	p.Path, p.Doubtful = Join(p.dir, names[0]), false
	if p.Persistent {
		return nil
	}
	_, stat, err := r.Get(p.Path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return ErrRestart
	case err != nil:
		return err
	}
	p.Epoch = r.Epoch()
	if !p.Epoch.Owns(stat) {
		return ErrRestart
	}
	return nil
}

// search returns the names of the nodes with the own GUID. The result is final: a request without a
// reply is applied before the next write of the same session, or never. That write is of Fresh, and
// its node may be missing. The path distinguishes this search from requests of other goroutines at
// the same moment.
func (p *Protected) search(r *Sender) ([]string, error) {
	names, err := FreshResult(r, Join(p.dir, p.prefix()), func() ([]string, error) {
		names, err := r.Children(p.dir)
		return names, Ignore(err, zk.ErrNoNode)
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, p.prefix())
	}), nil
}

// Remove deletes all nodes of the creation. It returns when the server has confirmed that none is
// left, when the server refuses, or when the Conn is closed.
func (p *Protected) Remove(r *Sender) error {
	if p.Path != "" && !p.Doubtful {
		return r.Remove(p.Path)
	}
	if !p.Doubtful {
		return nil
	}
	names, err := p.search(r.Unbounded())
	if err != nil {
		return fmt.Errorf("look for %s%s* to delete it: %w", Join(p.dir, p.prefix()), p.kind, err)
	}
	for _, name := range names {
		if err := r.Remove(Join(p.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// NewGUID returns a unique name of 32 hexadecimal digits. It reads rand.Reader, as the client does
// for its own protected names.
func NewGUID() (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(rand.Reader, raw[:]); err != nil {
		return "", fmt.Errorf("make a guid: %w", err)
	}
	return hex.EncodeToString(raw[:]), nil
}
