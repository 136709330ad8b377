package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// element is what Poll returns, ok being false when the queue is empty.
type element struct {
	data []byte
	ok   bool
}

// Peek returns the payload of the first element without removing it, and false
// if the queue is empty. Somebody may remove it before Peek has returned.
func (q *Queue) Peek(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := call(ctx, q, "peek at", func(ctx context.Context, r *requests, _ *task[element]) (element, error) {
		return q.peek(ctx, r)
	})
	return e.data, e.ok, err
}

// Poll removes the first element and returns its payload, or false if the
// queue is empty. After an error nothing was taken, unless it wraps
// ErrAmbiguous: then the element, if any, is put back in the background, for
// as long as the Conn is open.
func (q *Queue) Poll(ctx context.Context) (data []byte, ok bool, err error) {
	e, err := call(ctx, q, "poll", func(ctx context.Context, r *requests, t *task[element]) (element, error) {
		return q.poll(ctx, r, t)
	})
	return e.data, e.ok, err
}

// Take removes the first element and returns its payload; it waits for one
// while the queue is empty. Errors are those of Poll. Waiting takers are all
// woken by each Offer, and one of them gets the element.
func (q *Queue) Take(ctx context.Context) ([]byte, error) {
	e, err := call(ctx, q, "take from", func(ctx context.Context, r *requests, t *task[element]) (element, error) {
		return q.take(ctx, r, t)
	})
	return e.data, err
}

func (q *Queue) peek(ctx context.Context, r *requests) (element, error) {
	for {
		names, err := q.listSynced(ctx, r)
		if err != nil || len(names) == 0 {
			return element{}, err
		}
		for _, n := range names {
			data, _, err := r.get(ctx, q.item(n.name))
			if err == nil {
				return element{data: data, ok: true}, nil
			}
			if !errors.Is(err, zk.ErrNoNode) {
				return element{}, err
			}
		}
	}
}

func (q *Queue) poll(ctx context.Context, r *requests, t *task[element]) (element, error) {
	for {
		names, err := q.list(ctx, r)
		if err == nil && len(names) == 0 {
			names, err = q.listSynced(ctx, r)
		}
		if err != nil || len(names) == 0 {
			return element{}, err
		}
		e, err := q.removeFirst(ctx, r, t, names)
		if err != nil || e.ok {
			return e, err
		}
	}
}

func (q *Queue) take(ctx context.Context, r *requests, t *task[element]) (element, error) {
	for {
		names, err := q.list(ctx, r)
		if err != nil {
			return element{}, err
		}
		if len(names) == 0 {
			if err := q.awaitChange(ctx, r); err != nil {
				return element{}, err
			}
			continue
		}
		e, err := q.removeFirst(ctx, r, t, names)
		if err != nil || e.ok {
			return e, err
		}
	}
}

// awaitChange waits until the directory of elements changes, or returns at
// once if there are elements. The client cannot take a watch back, so one that
// a cancelled Take has left is used again: it was set before this look.
func (q *Queue) awaitChange(ctx context.Context, r *requests) error {
	q.mu.Lock()
	watch := q.change
	q.mu.Unlock()
	var names []string
	var err error
	if watch == nil {
		names, watch, err = r.childrenW(ctx, q.items())
	} else {
		names, err = r.children(ctx, q.items())
	}
	switch {
	case errors.Is(err, zk.ErrNoNode):
		q.keepWatch(nil)
		return q.ensureDirs(ctx, r)
	case err != nil:
		return err
	}
	q.keepWatch(watch)
	if len(sortNumbered(names, itemMarker)) > 0 {
		return nil
	}
	fired, err := awaitEvent(ctx, watch, q.opts.recheck)
	if fired {
		q.keepWatch(nil)
	}
	if errors.Is(err, errRestart) {
		return nil // the session has ended; look again in the new one
	}
	return err
}

func (q *Queue) keepWatch(watch <-chan zk.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.change = watch
}

// removeFirst removes the first of the named elements that is still there.
// Younger ones than those named come after all of them.
func (q *Queue) removeFirst(ctx context.Context, r *requests, t *task[element], names []numbered) (element, error) {
	for _, n := range names {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		e, err := q.removeOne(ctx, r, t, n.name)
		if err != nil || e.ok {
			return e, err
		}
	}
	return element{}, nil
}

// removeOne removes one element, unless somebody else has.
func (q *Queue) removeOne(ctx context.Context, r *requests, t *task[element], name string) (element, error) {
	guid, err := newGUID()
	if err != nil {
		return element{}, err
	}
	m := &removal{q: q, guid: guid, name: name}
	mine, err := m.run(ctx, r)
	switch {
	case err != nil && m.doubtful:
		return element{}, m.giveUp(r, err)
	case err != nil || !mine:
		return element{}, err
	}
	e := element{data: m.data, ok: true}
	if !t.settle(e) {
		return element{}, m.giveUp(r, context.Cause(ctx))
	}
	q.tidy(r, q.claim(guid))
	return e, nil
}

// removal moves one element from the items to a claim with a GUID of its own.
type removal struct {
	q        *Queue
	guid     string
	name     string
	data     []byte
	doubtful bool // a request with unknown outcome was sent
}

// run reads the element and removes it, and reports whether it was this
// removal that did.
func (m *removal) run(ctx context.Context, r *requests) (mine bool, err error) {
	for {
		data, stat, err := r.get(ctx, m.q.item(m.name))
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return false, nil
		case err != nil:
			return false, err
		}
		m.data = data
		mine, err = m.commit(ctx, r, stat.Version)
		if !errors.Is(err, zk.ErrBadVersion) {
			return mine, err
		}
	}
}

// commit deletes the element and creates the claim in one transaction. A
// repetition tells which of the two failed: the claim exists if the first
// request was applied, the element is gone if a rival was faster. Once ctx is
// done nothing more is sent; whether something was is what doubtful says.
func (m *removal) commit(ctx context.Context, r *requests, version int32) (mine bool, err error) {
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		failed, err := r.multi(
			&zk.CreateRequest{Path: m.q.claim(m.guid), Data: []byte(m.name), Acl: m.q.opts.acl},
			&zk.DeleteRequest{Path: m.q.item(m.name), Version: version},
		)
		m.doubtful = m.doubtful || OutcomeOf(err) == Unknown
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return true, nil
		case errors.Is(err, zk.ErrNoNode) && failed == 1:
			return false, nil
		case errors.Is(err, zk.ErrNoNode):
			err = m.q.ensureDirs(ctx, r)
		case transient(err):
			err = r.backoff.wait(ctx)
		}
		if err != nil {
			return false, err
		}
	}
}

// giveUp undoes the removal, if it has happened, and returns the error to
// report.
func (m *removal) giveUp(r *requests, why error) error {
	if errors.Is(why, ErrConnClosed) {
		return fmt.Errorf("%w: %w", ErrAmbiguous, why)
	}
	if err := m.undo(r); err != nil {
		return fmt.Errorf("%w: %w", ErrAmbiguous, errors.Join(why, err))
	}
	return why
}

// undo puts the element back under its old name, and so at its old place,
// exactly if the claim exists.
func (m *removal) undo(r *requests) error {
	for {
		failed, err := r.repeatMulti(
			&zk.DeleteRequest{Path: m.q.claim(m.guid), Version: -1},
			&zk.CreateRequest{Path: m.q.item(m.name), Data: m.data, Acl: m.q.opts.acl},
		)
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
