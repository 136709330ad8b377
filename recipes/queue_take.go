package recipes

import (
	"context"
	"errors"
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
		ctx context.Context, r *request.Sender, t *task.Task[element],
	) (element, error) {
		return q.poll(ctx, r, t)
	})
	return e.data, e.ok, err
}

// Take removes the first element that can be taken and returns its payload. It waits while there is
// none. It returns the errors of Poll. Each Offer wakes all waiting consumers, and one of them gets
// the element.
func (q *claimQueue) Take(ctx context.Context) ([]byte, error) {
	e, err := task.Call(ctx, q.tasks, "take from", func(
		ctx context.Context, r *request.Sender, t *task.Task[element],
	) (element, error) {
		return q.take(ctx, r, t)
	})
	return e.data, err
}

func (q *claimQueue) peek(ctx context.Context, r *request.Sender) (element, error) {
	for {
		l, err := q.listSynced(ctx, r)
		if err != nil || len(l.ready) == 0 {
			return element{}, err
		}
		for _, name := range q.candidates(l) {
			data, _, err := r.Get(ctx, q.item(name))
			if err == nil {
				return element{data: data, ok: true}, nil
			}
			if !errors.Is(err, zk.ErrNoNode) {
				return element{}, err
			}
		}
	}
}

func (q *claimQueue) poll(
	ctx context.Context, r *request.Sender, t *task.Task[element],
) (element, error) {
	for {
		l, err := q.list(ctx, r)
		if err == nil && len(l.ready) == 0 {
			l, err = q.listSynced(ctx, r)
		}
		if err != nil || len(l.ready) == 0 {
			return element{}, err
		}
		e, err := q.removeFirst(ctx, r, t, l)
		if err != nil || e.ok {
			return e, err
		}
	}
}

func (q *claimQueue) take(
	ctx context.Context, r *request.Sender, t *task.Task[element],
) (element, error) {
	for {
		l, err := q.list(ctx, r)
		if err != nil {
			return element{}, err
		}
		if len(l.ready) == 0 {
			if err := q.awaitChange(ctx, r); err != nil {
				return element{}, err
			}
			continue
		}
		e, err := q.removeFirst(ctx, r, t, l)
		if err != nil || e.ok {
			return e, err
		}
	}
}

// awaitChange waits until the directory of elements changes or the next element is ready. It
// returns at once if an element is ready already.
func (q *claimQueue) awaitChange(ctx context.Context, r *request.Sender) error {
	names, watch, err := q.change.Children(ctx, r)
	if errors.Is(err, zk.ErrNoNode) {
		return q.ensureDirs(ctx, r)
	}
	l := q.arrange(names)
	if err != nil || len(l.ready) > 0 {
		return err
	}
	return watch.Wait(ctx, shorterWait(q.tasks.Opts.Recheck, l.next))
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
	ctx context.Context, r *request.Sender, t *task.Task[element], l elementOrder,
) (element, error) {
	for _, name := range q.candidates(l) {
		if ctx.Err() != nil {
			return element{}, context.Cause(ctx)
		}
		e, err := q.removeOne(ctx, r, t, name, l.version)
		if err != nil || e.ok {
			return e, err
		}
	}
	return element{}, nil
}

// removeOne removes one element, unless a rival has removed it or its list is out of date.
func (q *claimQueue) removeOne(
	ctx context.Context, r *request.Sender, t *task.Task[element], name string, version int32,
) (element, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return element{}, err
	}
	m := &removal{q: q, guid: guid, name: name, list: version}
	mine, err := m.run(ctx, r)
	switch {
	case err != nil && m.doubtful:
		return element{}, m.giveUp(r, err)
	case err != nil || !mine:
		return element{}, err
	}
	e := element{data: m.data, ok: true}
	if !t.Settle(e) {
		return element{}, m.giveUp(r, context.Cause(ctx))
	}
	q.drop(r, q.claim(guid))
	return e, nil
}
