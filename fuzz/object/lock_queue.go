package object

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

// LockQueuer is a queue under test that keeps an element until it is acknowledged. Take waits for
// an element without a holder. An error of Take that wraps the error of its context must mean that
// the caller holds nothing, unless it is ambiguous, too; see [ErrAmbiguous]. The method of
// [DeliveryPoller] is optional and tested, too.
type LockQueuer interface {
	Offer(ctx context.Context, data []byte) error
	Take(ctx context.Context) (Delivery, error)
}

// Delivery is an element that a client holds. After an error of Ack that is not
// ambiguous the element must not have been removed. An error that wraps [ErrFinal] says that the
// client has lost the element.
type Delivery interface {
	Data() []byte
	Ack(ctx context.Context) error
	Release(ctx context.Context) error
}

// DeliveryPoller is a LockQueuer that can take an element without waiting; ok is false if every
// element has a holder.
type DeliveryPoller interface {
	Poll(ctx context.Context) (d Delivery, ok bool, err error)
}

// LockQueueClaims are the promises of a queue with locks.
type LockQueueClaims struct {
	// QueueClaims are the claims of a queue. MayLose and MayDuplicate have no effect: this queue
	// delivers at least once.
	QueueClaims
	// Lock returns the path of the lock of the element stored at a path; nil means that path
	// followed by -lock.
	Lock func(item string) string
	// ComesBack says that an element which was delivered comes back by itself after this time, as
	// with a visibility timeout, unless it is acknowledged. Deliveries have no locks then, and
	// their order is not judged. 0 means that they have locks.
	ComesBack time.Duration
}

// LockQueue makes a workload of a queue that delivers at least once. The clients offer and take as
// those of [Queue] do. They hold an element for a while, now and then for longer than a session
// without a connection lives. Then they acknowledge it or, one time in five, give it back.
func LockQueue(open func(Env) LockQueuer, given ...LockQueueClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, queuePath)
	if claims.Lock == nil {
		claims.Lock = func(item string) string { return item + "-lock" }
	}
	w := claims.workload("lock-queue", func(q queue.Claims) linearizability.Claims {
		if q.Patience += claims.ComesBack; q.Patience == claims.ComesBack ||
			q.Patience >= takePatience {
			q.Patience = 0
		}
		return queue.Locked{Claims: q, Lock: claims.Lock, ComesBack: claims.ComesBack}
	}, nil)
	w.Play = scenario.Shared(opener(open, claims.Path),
		func(p *scenario.Player, s scenario.Script, h *scenario.Handle[LockQueuer]) {
			lp := &lockQueuePlayer{client: p, queue: h.Now}
			put := func(_ int, element string) (string, offer) {
				return element, func(ctx context.Context) error {
					return h.Now().Offer(ctx, payloadOf(element))
				}
			}
			queue := func() taker {
				if _, ok := h.Now().(DeliveryPoller); ok {
					return pollingLockQueue{lp}
				}
				return lp
			}
			queuePlayer{
				client: p, distinct: true, queue: queue, put: put, done: lp.finish,
			}.play(s)
		})
	w.Length = func(s scenario.Script) time.Duration {
		return time.Duration(2*s.Rounds) * (takePatience + scenario.LongHold + time.Second)
	}
	return w
}

// lockQueuePlayer is a client that ends its deliveries.
type lockQueuePlayer struct {
	client *scenario.Player
	queue  func() LockQueuer
	last   Delivery
}

func (p *lockQueuePlayer) Take(ctx context.Context) ([]byte, error) {
	d, err := p.queue().Take(ctx)
	if err != nil {
		return nil, err
	}
	p.last = d
	return d.Data(), nil
}

// pollingLockQueue is a lockQueuePlayer of a queue with a Poll.
type pollingLockQueue struct{ *lockQueuePlayer }

func (p pollingLockQueue) Poll(ctx context.Context) (data []byte, ok bool, err error) {
	d, ok, err := p.queue().(DeliveryPoller).Poll(ctx)
	if err != nil || !ok {
		return nil, false, err
	}
	p.last = d
	return d.Data(), true, nil
}

// finish holds the last delivery for a while and ends it.
func (p *lockQueuePlayer) finish(round int) {
	d := p.last
	p.client.Hold(scenario.At("hold", round), nil)
	element := payloadName(string(d.Data()))
	if p.client.Choose(scenario.At("acknowledge", round), 5) > 0 && p.acknowledge(round, d, element) {
		return
	}
	p.client.GiveBack(scenario.At("release", round), func(ctx context.Context) error {
		return p.client.Call(ops.Release, element, func(context.Context) error {
			return d.Release(ctx)
		})
	})
}

// acknowledge calls Ack up to three times, and reports whether the delivery has ended. The first
// attempt has a short context in some rounds.
func (p *lockQueuePlayer) acknowledge(round int, d Delivery, element string) bool {
	return p.client.Attempt(3, func(attempt int) error {
		ctx, cancel := p.client.Hasty(p.client.Context(), attempt, scenario.At("ack", round), 4, 0,
			10*time.Millisecond)
		defer cancel()
		c := p.client.Begin(ops.Ack, element)
		err := d.Ack(ctx)
		switch {
		case err == nil:
			c.OK(linearizability.Result{})
		case isAmbiguous(err):
			c.Unknown(linearizability.Result{}, err)
		default:
			c.Failed(err)
		}
		if errors.Is(err, ErrFinal) {
			return nil
		}
		return err
	})
}
