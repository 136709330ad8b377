package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// remove deletes the node at path, whatever its version, and gives up only when the server refuses
// or the Conn is closed. It is for names that are never used again, as a late delete would hit the
// next node of the name.
func (r *requests) remove(path string) error {
	err := r.repeat(context.Background(), func() error { return r.conn.Delete(path, -1) })
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// multi sends ops as one transaction, once. Of a refused transaction it returns the position of the
// operation that failed, otherwise -1.
func (r *requests) multi(ops ...interface{}) (failed int, err error) {
	_, failed, err = r.answered(ops)
	return failed, err
}

// answered is multi that returns the answers, too: one for each operation.
func (r *requests) answered(ops []interface{}) (answers []zk.MultiResponse, failed int, err error) {
	err = r.do(func() (err error) {
		answers, failed, err = r.transaction(ops)
		return err
	})
	return answers, failed, err
}

// repeatMulti is multi until the answer is definite, for as long as that takes.
func (r *requests) repeatMulti(ops ...interface{}) (failed int, err error) {
	return r.multiUntil(context.Background(), ops...)
}

// multiUntil is repeatMulti that gives up when ctx is done.
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

// createOnce creates a persistent node of a fixed name, parents included, unless it exists, and
// returns the data of the node. made reports whether that is the given data: then the node was
// created here, or by another client with the same data. It is for decisions that are taken once.
// An error wraps ErrAmbiguous if the node may have been created nevertheless.
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
			return nil, false, doubtOf(doubtful, err)
		}
	}
}

// setOnce sets the data of the node at path if it has the version, once.
func (r *requests) setOnce(path string, data []byte, version int32) (stat *zk.Stat, err error) {
	err = r.do(func() (err error) {
		stat, err = r.conn.Set(path, data, version)
		return err
	})
	return stat, err
}

// doubtOf marks the error of an operation with a possibly unknown outcome.
func doubtOf(doubtful bool, err error) error {
	if doubtful && err != nil {
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return err
}
