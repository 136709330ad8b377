package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// recorded is a change of nodes that must not be made twice, such as an addition to a counter. One
// transaction makes the change and creates a record, a node with a name that is never used again.
// After a lost reply the client looks for the record to learn whether the change was made.
type recorded struct {
	record   string
	doubtful bool // a request with unknown outcome was sent
}

// newRecorded chooses a name for a record in dir.
func newRecorded(dir, kind string) (*recorded, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	return &recorded{record: join(dir, kind+guid)}, nil
}

// isConflict reports whether a change was refused because the node has changed since it was read.
func isConflict(err error) bool {
	return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) ||
		errors.Is(err, zk.ErrNodeExists)
}

// replace sets the data of the node at path, if the node is unchanged since stat was read. A nil
// stat stands for a missing node: replace then creates the node. If the parent is missing, it
// creates the parents and returns zk.ErrNoNode.
func (w *recorded) replace(
	ctx context.Context, r *requests, path string, data []byte, stat *zk.Stat,
) error {
	if stat == nil {
		err := w.apply(ctx, r, &zk.CreateRequest{Path: path, Data: data, Acl: r.opts.acl})
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if err := r.ensureDir(ctx, parent(path)); err != nil {
			return err
		}
		return err
	}
	return w.apply(ctx, r, setOps(path, data, stat, r.opts.acl)...)
}

// setOps returns the operations of a transaction that sets the data of the node at path, if the
// node is unchanged since stat was read.
//
// The server's version is a 32-bit number that wraps, and -1 means any version. So a change of
// version -1 also creates a node that is named after the mzxid in stat. A rival with the same stat
// fails to create that node, however late it comes.
func setOps(path string, data []byte, stat *zk.Stat, acl []zk.ACL) []interface{} {
	ops := []interface{}{&zk.SetDataRequest{Path: path, Data: data, Version: stat.Version}}
	if stat.Version == -1 {
		turn := join(path, fmt.Sprintf("turn-%016x", uint64(stat.Mzxid)))
		ops = append(ops, &zk.CreateRequest{Path: turn, Acl: acl})
	}
	return ops
}

// apply makes the change. It repeats the request until the answer is definite or ctx is done. A
// refused repetition may mean that an earlier request was applied, so apply then looks for the
// record.
func (w *recorded) apply(ctx context.Context, r *requests, change ...interface{}) error {
	ops := append(change, &zk.CreateRequest{Path: w.record, Acl: r.opts.acl})
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := r.multi(ops...)
		if err == nil {
			return nil
		}
		w.doubtful = w.doubtful || OutcomeOf(err) == Unknown
		switch {
		case transient(err):
			if err := r.again(ctx, err); err != nil {
				return err
			}
		case w.doubtful:
			return w.settleEcho(ctx, r, err)
		default:
			return err
		}
	}
}

// settleEcho returns nil if an earlier request has made the change, otherwise the refusal.
func (w *recorded) settleEcho(ctx context.Context, r *requests, refusal error) error {
	stat, err := freshResult(ctx, r, w.record, func() (*zk.Stat, error) {
		return r.exists(ctx, w.record)
	})
	if err != nil || stat != nil {
		return err
	}
	w.doubtful = false
	return refusal
}

// end finishes a change for its caller and deletes the record. It returns a nil error if the change
// was made, even if err is an error.
func end[T any](l *lifecycle, r *requests, t *task[T], w *recorded, value T, err error) (T, error) {
	if err == nil {
		t.settle(value)
		l.note(r.remove(w.record))
		return value, nil
	}
	return value, w.resolve(r, err)
}

// resolve finds out whether the change was made, after it was given up because of why. It returns
// nil if it was.
func (w *recorded) resolve(r *requests, why error) error {
	if !w.doubtful {
		return why
	}
	if errors.Is(why, ErrConnClosed) {
		return ambiguousIf(true, why)
	}
	return resolve(r, w.record, why)
}

// resolve deletes the record of a change that was given up because of why. It returns nil if the
// record was there: then the change was made.
func resolve(r *requests, record string, why error) error {
	echo := false // an earlier try may have deleted the record
	err := r.repeat(context.Background(), func() error {
		err := r.conn.Delete(record, -1)
		echo = echo || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode) && !echo:
		return why
	case errors.Is(err, zk.ErrNoNode):
		return ambiguousIf(true, why)
	}
	return ambiguousIf(true, errors.Join(why, err))
}
