package request

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// OnceOnlyChange is a change of nodes that must not be made twice, such as an addition to a
// counter. One transaction makes the change and creates a record, a node with a name that is never
// used again. After a lost reply the client looks for the record to learn whether the change was
// made.
type OnceOnlyChange struct {
	Record   string
	doubtful bool // a request with unknown outcome was sent
}

// NewOnceOnlyChange chooses a name for a record in dir.
func NewOnceOnlyChange(dir, kind string) (*OnceOnlyChange, error) {
	guid, err := NewGUID()
	if err != nil {
		return nil, err
	}
	return &OnceOnlyChange{Record: Join(dir, kind+guid)}, nil
}

// IsConflict reports whether a change was refused because the node has changed since it was read.
func IsConflict(err error) bool {
	return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) ||
		errors.Is(err, zk.ErrNodeExists)
}

// Replace sets the data of the node at path, if the node is unchanged since stat was read. A nil
// stat stands for a missing node: Replace then creates the node. If the parent is missing, it
// creates the parents and returns zk.ErrNoNode.
func (w *OnceOnlyChange) Replace(r *Sender, path string, data []byte, stat *zk.Stat) error {
	if stat == nil {
		err := w.Apply(r, &zk.CreateRequest{Path: path, Data: data, Acl: r.Opts.ACL})
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if err := r.EnsureDir(Parent(path)); err != nil {
			return err
		}
		return err
	}
	return w.Apply(r, SetOps(path, data, stat, r.Opts.ACL)...)
}

// SetOps returns the operations of a transaction that sets the data of the node at path, if the
// node is unchanged since stat was read.
//
// The server's version is a 32-bit number that wraps, and -1 means any version. So a change of
// version -1 also creates a node that is named after the mzxid in stat. A rival with the same stat
// fails to create that node, however late it comes.
func SetOps(path string, data []byte, stat *zk.Stat, acl []zk.ACL) []interface{} {
	ops := []interface{}{&zk.SetDataRequest{Path: path, Data: data, Version: stat.Version}}
	if stat.Version == -1 {
		turn := Join(path, fmt.Sprintf("turn-%016x", uint64(stat.Mzxid)))
		ops = append(ops, &zk.CreateRequest{Path: turn, Acl: acl})
	}
	return ops
}

// Apply makes the change. It repeats the request until the answer is definite or the operation is
// over. A refused repetition may mean that an earlier request was applied, so Apply then looks for
// the record.
func (w *OnceOnlyChange) Apply(r *Sender, change ...interface{}) error {
	ops := append(change, &zk.CreateRequest{Path: w.Record, Acl: r.Opts.ACL})
	for {
		if err := r.Over(); err != nil {
			return err
		}
		_, err := r.Multi(ops...)
		if err == nil {
			return nil
		}
		w.doubtful = w.doubtful || OutcomeOf(err) == Unknown
		switch {
		case Transient(err):
			if err := r.Again(err); err != nil {
				return err
			}
		case w.doubtful:
			return w.settleEcho(r, err)
		default:
			return err
		}
	}
}

// settleEcho returns nil if an earlier request has made the change, otherwise the refusal.
func (w *OnceOnlyChange) settleEcho(r *Sender, refusal error) error {
	stat, err := FreshResult(r, w.Record, func() (*zk.Stat, error) {
		return r.Exists(w.Record)
	})
	if err != nil || stat != nil {
		return err
	}
	w.doubtful = false
	return refusal
}

// Resolve finds out whether the change was made, after it was given up because of why. It returns
// nil if it was.
func (w *OnceOnlyChange) Resolve(r *Sender, why error) error {
	if !w.doubtful {
		return why
	}
	if errors.Is(why, ErrConnClosed) {
		return AmbiguousIf(true, why)
	}
	return Resolve(r, w.Record, why)
}

// Resolve deletes the record of a change that was given up because of why. It returns nil if the
// record was there: then the change was made.
func Resolve(r *Sender, record string, why error) error {
	echo := false // an earlier try may have deleted the record
	err := r.Unbounded().Repeat(func() error {
		err := r.Conn.Delete(record, -1)
		echo = echo || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode) && !echo:
		return why
	case errors.Is(err, zk.ErrNoNode):
		return AmbiguousIf(true, why)
	}
	return AmbiguousIf(true, errors.Join(why, err))
}
