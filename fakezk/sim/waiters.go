package sim

import (
	"cmp"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
)

// A client that loses its connection fails all requests without a reply at one instant, and one
// event wakes all that watch a node. Goroutines that wake together would go on in the order of the
// Go scheduler. So the World wakes them itself, one after the other, each when the one before it
// has come to rest. To the code it is as if the scheduler had taken its time.

// waiters are goroutines of a client that one event would wake together.
type waiters struct {
	process *process
	connect int
	wake    []func()
}

// wakeApart takes the goroutines that an event of the client's library would wake together.
func (c *Client) wakeApart(connect int, conn *zk.Conn, ev zk.Event) {
	if c.inbox.closing.Load() || c.inbox.agenda.Crowded {
		return
	}
	w := waiters{process: c.process, connect: connect}
	if ev.Type == zk.EventSession && ev.State == zk.StateDisconnected {
		for _, r := range zkclient.TakePending(conn) {
			w.wake = append(w.wake, func() { r.Fail(zk.ErrConnectionClosed) })
		}
	}
	for _, watch := range zkclient.TakeWatches(conn, ev) {
		w.wake = append(w.wake, watch.Fire)
	}
	if len(w.wake) > 0 {
		c.inbox.add(func(m *mail) { m.waiters = append(m.waiters, w) })
	}
}

// scheduleWaiters wakes goroutines before anything else happens.
func (s *loop) scheduleWaiters(list []waiters) {
	slices.SortStableFunc(list, func(a, b waiters) int {
		return cmp.Or(
			cmp.Compare(a.process.index, b.process.index), cmp.Compare(a.connect, b.connect),
		)
	})
	var events []func()
	for _, w := range list {
		for _, wake := range w.wake {
			events = append(events, func() {
				s.turns.goOn()
				w.process.woken()
				wake()
			})
		}
	}
	if len(events) > 0 {
		s.agenda.ScheduleFirst(events)
	}
}
