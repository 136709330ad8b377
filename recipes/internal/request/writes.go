package request

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Remove deletes the node at path, whatever its version. It gives up only when the server refuses
// or the Conn is closed. It is for names that are never used again: a late delete would hit the
// next node of the same name.
func (r *Sender) Remove(path string) error {
	err := r.Unbounded().Repeat(func() error { return r.Conn.Delete(path, -1) })
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// Multi sends ops as one transaction, once. If the transaction was refused, failed is the position
// of the refused operation, otherwise -1.
func (r *Sender) Multi(ops ...interface{}) (failed int, err error) {
	_, failed, err = r.Answered(ops)
	return failed, err
}

// Answered is Multi, and also returns the answers, one for each operation.
func (r *Sender) Answered(ops []interface{}) (answers []zk.MultiResponse, failed int, err error) {
	err = r.Do(func() (err error) {
		answers, failed, err = r.Transaction(ops)
		return err
	})
	return answers, failed, err
}

// RepeatMulti is Multi, repeated until the answer is definite or the operation is over.
func (r *Sender) RepeatMulti(ops ...interface{}) (failed int, err error) {
	failed = -1
	err = r.Repeat(func() (err error) {
		_, failed, err = r.Transaction(ops)
		return err
	})
	return failed, err
}

// Transaction sends ops as one transaction. It is for Do and Repeat.
func (r *Sender) Transaction(
	ops []interface{},
) (answers []zk.MultiResponse, failed int, err error) {
	answers, err = r.Conn.Multi(ops...)
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

// CreateOnce creates a persistent node of a fixed name and its missing parents, unless the node
// exists, and returns the data of the node. made reports whether that is the given data. Then this
// client has created the node, or another client with the same data. CreateOnce is for decisions
// that are taken once. An error wraps ErrAmbiguous if the node may have been created nevertheless.
func (r *Sender) CreateOnce(path string, data []byte) (stored []byte, made bool, err error) {
	doubtful := false
	for {
		err := r.Repeat(func() error {
			_, err := r.Conn.Create(path, data, 0, r.Opts.ACL)
			doubtful = doubtful || OutcomeOf(err) == Unknown
			return err
		})
		switch {
		case err == nil:
			return data, true, nil
		case errors.Is(err, zk.ErrNodeExists):
			stored, _, err = r.Get(path)
			if err == nil {
				return stored, bytes.Equal(stored, data), nil
			}
		case errors.Is(err, zk.ErrNoNode):
			err = r.EnsureDir(Parent(path))
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, false, AmbiguousIf(doubtful, err)
		}
	}
}
