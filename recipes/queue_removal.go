package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// removal moves one element from the items to a claim with its own GUID.
type removal struct {
	q         *claimQueue
	guid      string
	name      string
	list      int32 // version of the list that the element was chosen from
	data      []byte
	ephemeral bool // the element is ephemeral
	doubtful  bool // a request with unknown outcome was sent
}

// run reads and removes the element. It reports whether this removal has removed it.
func (m *removal) run(ctx context.Context, r *request.Sender) (mine bool, err error) {
	for {
		data, stat, err := r.Get(ctx, m.q.item(m.name))
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return false, nil
		case err != nil:
			return false, err
		}
		m.data, m.ephemeral = data, stat.EphemeralOwner != 0
		mine, err = m.commit(ctx, r, stat.Version)
		if !errors.Is(err, zk.ErrBadVersion) {
			return mine, err
		}
	}
}

// commit deletes the element and creates the claim in one transaction. A rival was faster if the
// element is gone or the list is out of date.
func (m *removal) commit(
	ctx context.Context, r *request.Sender, version int32,
) (mine bool, err error) {
	beaten := func(failed int, err error) bool {
		return errors.Is(err, zk.ErrNoNode) && failed == 1 ||
			errors.Is(err, zk.ErrBadVersion) && failed == 2
	}
	_, mine, err = m.q.commit(ctx, r, &m.doubtful, beaten, m.checked(
		&zk.CreateRequest{Path: m.q.claim(m.guid), Data: []byte(m.name), Acl: m.q.tasks.Opts.ACL},
		&zk.DeleteRequest{Path: m.q.item(m.name), Version: version},
	)...)
	return mine, err
}

// checked adds a check that the list is up to date to the transaction, if the queue is strict.
func (m *removal) checked(ops ...any) []any {
	if !m.q.strict {
		return ops
	}
	return append(ops, &zk.CheckVersionRequest{Path: m.q.items(), Version: m.list})
}

// giveUp undoes the removal, if it has happened, and returns the error to report.
func (m *removal) giveUp(r *request.Sender, why error) error {
	if errors.Is(why, ErrConnClosed) {
		return fmt.Errorf("%w: %w", ErrAmbiguous, why)
	}
	if m.ephemeral {
		return m.forgo(r, why)
	}
	if err := m.undo(r); err != nil {
		return fmt.Errorf("%w: %w", ErrAmbiguous, errors.Join(why, err))
	}
	return why
}

// undo puts the element back under its old name, and so at its old place, if and only if the claim
// exists.
func (m *removal) undo(r *request.Sender) error {
	for {
		failed, err := r.RepeatMulti(m.q.counted(
			&zk.DeleteRequest{Path: m.q.claim(m.guid), Version: -1},
			&zk.CreateRequest{Path: m.q.item(m.name), Data: m.data, Acl: m.q.tasks.Opts.ACL},
		)...)
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode) && failed == 0:
			return nil
		case errors.Is(err, zk.ErrNoNode):
			err = m.q.ensureDirs(context.Background(), r)
		}
		if err != nil {
			return fmt.Errorf("put %s back: %w", m.name, err)
		}
	}
}

// forgo is giveUp for an ephemeral element. Only the session that has offered the element could
// create it again as its own. So the element is lost if the removal has happened.
func (m *removal) forgo(r *request.Sender, why error) error {
	if err := request.Resolve(r, m.q.claim(m.guid), why); err != nil {
		return err
	}
	return fmt.Errorf("%w: the ephemeral element %s was taken and cannot be put back: %w",
		ErrAmbiguous, m.name, why)
}
