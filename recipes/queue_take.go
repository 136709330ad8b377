package recipes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// element is the result of Poll; ok is false when the queue is empty.
type element struct {
	data []byte
	ok   bool
}

// Peek returns the payload of the first element that can be taken, or false if there is none. It
// does not remove the element. A consumer may remove it before Peek has returned.
func (q *claimQueue) Peek(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := task.Ask(ctx, q.tasks, "peek at", q.peek)
	return e.data, e.ok, err
}

// Poll removes the first element that can be taken and returns its payload, or false if there is
// none. After an error nothing was taken, unless it wraps ErrAmbiguous: then a removed element is
// put back in the background, for as long as the Conn is open. A removed ephemeral element is lost.
func (q *claimQueue) Poll(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := task.Call(ctx, q.tasks, "poll", func(
		r *request.Sender, t *task.Task[element],
	) (element, error) {
		return q.poll(r, t)
	})
	return e.data, e.ok, err
}

// Take removes the first element that can be taken and returns its payload. It waits while there is
// none. It returns the errors of Poll. Each Offer wakes all waiting consumers, and one of them gets
// the element.
func (q *claimQueue) Take(ctx context.Context) ([]byte, error) {
	e, err := task.Call(ctx, q.tasks, "take from", func(
		r *request.Sender, t *task.Task[element],
	) (element, error) {
		return q.take(r, t)
	})
	return e.data, err
}

func (q *claimQueue) peek(r *request.Sender) (element, error) {
	for {
		l, err := q.listConfirmed(r)
		if err != nil || len(l.ready) == 0 {
			return element{}, err
		}
		for _, name := range q.candidates(l) {
			data, _, err := r.Get(q.item(name))
			if err == nil {
				return element{data: data, ok: true}, nil
			}
			if !errors.Is(err, zk.ErrNoNode) {
				return element{}, err
			}
		}
	}
}

func (q *claimQueue) poll(r *request.Sender, t *task.Task[element]) (element, error) {
	for {
		l, err := q.list(r)
		if err == nil && len(l.ready) == 0 {
			l, err = q.listConfirmed(r)
		}
		if err != nil || len(l.ready) == 0 {
			return element{}, err
		}
		e, err := q.removeFirst(r, t, l)
		if err != nil || e.ok {
			return e, err
		}
	}
}

func (q *claimQueue) take(r *request.Sender, t *task.Task[element]) (element, error) {
	for {
		l, err := q.list(r)
		if err != nil {
			return element{}, err
		}
		if len(l.ready) == 0 {
			if err := q.awaitChange(r); err != nil {
				return element{}, err
			}
			continue
		}
		e, err := q.removeFirst(r, t, l)
		if err != nil || e.ok {
			return e, err
		}
	}
}

// awaitChange waits until the directory of elements changes or the next element is ready. It
// returns at once if an element is ready already.
func (q *claimQueue) awaitChange(r *request.Sender) error {
	names, watch, err := q.change.Children(r)
	if errors.Is(err, zk.ErrNoNode) {
		return q.ensureDirs(r)
	}
	l := q.arrange(names)
	if err != nil || len(l.ready) > 0 {
		return err
	}
	return watch.Wait(r.Ctx, shorterWait(q.tasks.Opts.Recheck, l.next))
}

// shorterWait returns the time until moment, or recheck if that is shorter. A zero moment or a
// recheck of 0 does not count. The result 0 means for ever.
func shorterWait(recheck time.Duration, moment time.Time) time.Duration {
	if moment.IsZero() {
		return recheck
	}
	left := max(time.Until(moment), 1)
	if recheck > 0 {
		return min(recheck, left)
	}
	return left
}

// candidates returns the elements of a list that may be removed one after the other. In a FIFO
// queue these are all, as elements that are not listed yet come after them. In a strict queue it is
// only the first.
func (q *claimQueue) candidates(l elementOrder) []string {
	if q.strict {
		return l.ready[:1]
	}
	return l.ready
}

// removeFirst removes the first candidate that is still there.
func (q *claimQueue) removeFirst(
	r *request.Sender, t *task.Task[element], l elementOrder,
) (element, error) {
	for _, name := range q.candidates(l) {
		if err := r.Over(); err != nil {
			return element{}, err
		}
		e, err := q.removeOne(r, t, name, l.version)
		if err != nil || e.ok {
			return e, err
		}
	}
	return element{}, nil
}

// removeOne removes one element, unless a rival has removed it or its list is out of date.
func (q *claimQueue) removeOne(
	r *request.Sender, t *task.Task[element], name string, version int32,
) (element, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return element{}, err
	}
	m := &removal{q: q, guid: guid, name: name, list: version}
	mine, err := m.run(r)
	switch {
	case err != nil && m.doubtful:
		return element{}, m.giveUp(r, err)
	case err != nil || !mine:
		return element{}, err
	}
	e := element{data: m.data, ok: true}
	if !t.Settle(e) {
		return element{}, m.giveUp(r, context.Cause(r.Ctx))
	}
	q.drop(r, q.claim(guid))
	return e, nil
}

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
func (m *removal) run(r *request.Sender) (mine bool, err error) {
	for {
		data, stat, err := r.Get(m.q.item(m.name))
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return false, nil
		case err != nil:
			return false, err
		}
		m.data, m.ephemeral = data, stat.EphemeralOwner != 0
		mine, err = m.commit(r, stat.Version)
		if !errors.Is(err, zk.ErrBadVersion) {
			return mine, err
		}
	}
}

// commit deletes the element and creates the claim in one transaction. A rival was faster if the
// element is gone or the list is out of date.
func (m *removal) commit(r *request.Sender, version int32) (mine bool, err error) {
	beaten := func(failed int, err error) bool {
		return errors.Is(err, zk.ErrNoNode) && failed == 1 ||
			errors.Is(err, zk.ErrBadVersion) && failed == 2
	}
	_, mine, err = m.q.commit(r, &m.doubtful, beaten, m.checked(
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
	r = r.Unbounded()
	for {
		failed, err := r.RepeatMulti(m.q.counted(
			&zk.DeleteRequest{Path: m.q.claim(m.guid), Version: -1},
			&zk.CreateRequest{Path: m.q.item(m.name), Data: m.data, Acl: m.q.tasks.Opts.ACL},
		)...)
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode) && failed == 0:
			return nil
		case errors.Is(err, zk.ErrNoNode):
			err = m.q.ensureDirs(r)
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
