package request

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// ErrRestart says that an attempt has lost its node, or that the node belongs to another session. A
// new attempt needs a new name.
var ErrRestart = errors.New("own node is gone")

// WithRestarts repeats attempts while they end with ErrRestart.
func WithRestarts[T any](r *Sender, attempt func() (T, error)) (T, error) {
	var restarts Backoff
	for {
		value, err := attempt()
		if !errors.Is(err, ErrRestart) {
			return value, err
		}
		if err := restarts.Wait(r.Ctx, nil, err); err != nil {
			return value, err
		}
	}
}

// GiveBack removes the nodes of an attempt that ended with err, unless the Conn is closed: then
// ephemeral nodes go with the session. It returns err, the error of the removal, or both; see
// FirstOf.
func GiveBack(r *Sender, err error, remove func(r *Sender) error) error {
	if errors.Is(err, ErrConnClosed) {
		return err
	}
	return FirstOf(err, r.Tidy(remove))
}

// FirstOf returns err together with the error of the clean-up. An error of the clean-up replaces
// ErrRestart: without clean-up there must be no new attempt.
func FirstOf(err, cleanup error) error {
	switch {
	case cleanup == nil:
		return err
	case err == nil || errors.Is(err, ErrRestart):
		return cleanup
	}
	return errors.Join(err, cleanup)
}

// RestartIfMissing turns zk.ErrNoNode into ErrRestart: if the directory is missing, so is the own
// node.
func RestartIfMissing(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return ErrRestart
	}
	return err
}

// Ignore returns err, or nil if err is the expected error.
func Ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
