package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// remove deletes the node at path, whatever its version. It gives up only when the server refuses
// or the Conn is closed. It is for names that are never used again: a late delete would hit the
// next node of the same name.
func (r *requests) remove(path string) error {
	err := r.repeat(context.Background(), func() error { return r.conn.Delete(path, -1) })
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// multi sends ops as one transaction, once. If the transaction was refused, failed is the position
// of the refused operation, otherwise -1.
func (r *requests) multi(ops ...interface{}) (failed int, err error) {
	_, failed, err = r.answered(ops)
	return failed, err
}

// answered is multi, and also returns the answers, one for each operation.
func (r *requests) answered(ops []interface{}) (answers []zk.MultiResponse, failed int, err error) {
	err = r.do(func() (err error) {
		answers, failed, err = r.transaction(ops)
		return err
	})
	return answers, failed, err
}

// repeatMulti is multi, repeated until the answer is definite. It has no time limit.
func (r *requests) repeatMulti(ops ...interface{}) (failed int, err error) {
	return r.multiUntil(context.Background(), ops...)
}

// multiUntil is repeatMulti, but gives up when ctx is done.
func (r *requests) multiUntil(ctx context.Context, ops ...interface{}) (failed int, err error) {
	failed = -1
	err = r.repeat(ctx, func() (err error) {
		_, failed, err = r.transaction(ops)
		return err
	})
	return failed, err
}

func (r *requests) transaction(
	ops []interface{},
) (answers []zk.MultiResponse, failed int, err error) {
	answers, err = r.conn.Multi(ops...)
	if err == nil {
		return answers, -1, nil
	}
	for i, answer := range answers {
		if answer.Error != nil {
			return answers, i, err
		}
	}
	return answers, -1, err
}

// createOnce creates a persistent node of a fixed name and its missing parents, unless the node
// exists, and returns the data of the node. made reports whether that is the given data. Then this
// client has created the node, or another client with the same data. createOnce is for decisions
// that are taken once. An error wraps ErrAmbiguous if the node may have been created nevertheless.
func (r *requests) createOnce(
	ctx context.Context, path string, data []byte,
) (stored []byte, made bool, err error) {
	doubtful := false
	for {
		err := r.repeat(ctx, func() error {
			_, err := r.conn.Create(path, data, 0, r.opts.acl)
			doubtful = doubtful || OutcomeOf(err) == Unknown
			return err
		})
		switch {
		case err == nil:
			return data, true, nil
		case errors.Is(err, zk.ErrNodeExists):
			stored, _, err = r.get(ctx, path)
			if err == nil {
				return stored, bytes.Equal(stored, data), nil
			}
		case errors.Is(err, zk.ErrNoNode):
			err = r.ensureDir(ctx, parent(path))
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, false, ambiguousIf(doubtful, err)
		}
	}
}

// setOnce sends one request to set the data of the node at path, if the node has the given version.
func (r *requests) setOnce(path string, data []byte, version int32) (stat *zk.Stat, err error) {
	err = r.do(func() (err error) {
		stat, err = r.conn.Set(path, data, version)
		return err
	})
	return stat, err
}

// ambiguousIf wraps ErrAmbiguous around an error, if the outcome is doubtful.
func ambiguousIf(doubtful bool, err error) error {
	if doubtful && err != nil {
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return err
}
