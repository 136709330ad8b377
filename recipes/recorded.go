package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// recorded is a change of nodes that may be made once only, such as an addition to a counter. It is
// made in one transaction with a record, a node of a name that is never used again, so that a
// client that has lost the reply can look whether it was made.
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

// raced reports whether a change was refused because the node has changed since it was read.
func raced(err error) bool {
	return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) ||
		errors.Is(err, zk.ErrNodeExists)
}

// replace sets the data of the node at path, as seen when stat was read; a nil stat stands for a
// missing node, which it creates, missing parents included.
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

// setOps returns the operations of a transaction that set the data of the node at path, as seen
// when stat was read.
//
// The server's version is a 32-bit number that wraps, and -1 means any version. So the one change
// of a version -1 also creates a node that is named after the mzxid it has seen: a rival that has
// seen the same, however late, fails there.
func setOps(path string, data []byte, stat *zk.Stat, acl []zk.ACL) []interface{} {
	ops := []interface{}{&zk.SetDataRequest{Path: path, Data: data, Version: stat.Version}}
	if stat.Version == -1 {
		turn := join(path, fmt.Sprintf("turn-%016x", uint64(stat.Mzxid)))
		ops = append(ops, &zk.CreateRequest{Path: turn, Acl: acl})
	}
	return ops
}

// apply makes the change, and does not end before the answer is definite or ctx is done. When a
// request was sent again, a refusal can be the echo of the first one: then it looks for the record.
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

// settleEcho returns nil if an earlier request has made the change that was refused now.
func (w *recorded) settleEcho(ctx context.Context, r *requests, refusal error) error {
	stat, err := freshly(ctx, r, w.record, func() (*zk.Stat, error) {
		return r.exists(ctx, w.record)
	})
	if err != nil || stat != nil {
		return err
	}
	w.doubtful = false
	return refusal
}

// end ends a change for its caller: it returns value if the change was made, although err may be an
// error on the way, and deletes the record.
func end[T any](l *lifecycle, r *requests, t *task[T], w *recorded, value T, err error) (T, error) {
	if err == nil {
		t.settle(value)
		l.note(r.remove(w.record))
		return value, nil
	}
	return value, w.resolve(r, err)
}

// resolve learns whether a change was made that was given up for why.
func (w *recorded) resolve(r *requests, why error) error {
	if !w.doubtful {
		return why
	}
	if errors.Is(why, ErrConnClosed) {
		return doubtOf(true, why)
	}
	return resolve(r, w.record, why)
}

// resolve deletes the record of a change that was given up for why, and learns from that whether it
// was made.
func resolve(r *requests, record string, why error) error {
	echo := false // the record may have been deleted by an earlier try
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
		return doubtOf(true, why)
	}
	return doubtOf(true, errors.Join(why, err))
}
