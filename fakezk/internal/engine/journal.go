package engine

import (
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// A journal has the transactions that the call under way has applied, and the sessions that it has
// notified of their events. The next call reuses the slices.
type journal struct {
	applied     []Applied // by the leader
	followed    []Applied
	notified    [][]int64  // for each event
	watchers    []Watchers // for each event
	notifiedIDs []int64    // backs notified
	hit         []*conn    // by the last event
}

// keptEvents is the number of events up to which a journal is kept for the next call.
const keptEvents = 1 << 10

func (j *journal) clear() {
	if cap(j.notified) > keptEvents {
		*j = journal{}
	}
	j.applied, j.followed = j.applied[:0], j.followed[:0]
	j.notified, j.watchers, j.notifiedIDs = j.notified[:0], j.watchers[:0], j.notifiedIDs[:0]
}

// applyAt lets a server apply a transaction and notify its watchers.
func (j *journal) applyAt(r *replica, txn state.Txn) Applied {
	a := Applied{Txn: txn, Result: r.store.Apply(txn)}
	start := len(j.notified)
	for i := range a.Result.Events {
		sessions, watchers := j.fire(r, &a.Result.Events[i])
		j.notified, j.watchers = append(j.notified, sessions), append(j.watchers, watchers)
	}
	a.Notified = j.notified[start:len(j.notified):len(j.notified)]
	a.Watchers = j.watchers[start:len(j.watchers):len(j.watchers)]
	return a
}

// fire sends one event to its watchers at a server, in order of connection, and returns the
// notified sessions. A watcher that may not read the node loses its one-shot watch and
// is not notified (CVE-2024-23944).
func (j *journal) fire(at *replica, ev *state.Event) ([]int64, Watchers) {
	var watchers Watchers
	j.hit, watchers = at.watches.trigger(j.hit[:0], ev.Type, ev.Path)
	if len(j.hit) == 0 {
		return nil, Watchers{}
	}
	start := len(j.notifiedIDs)
	for _, c := range j.hit {
		if !state.CanRead(ev.ACL, c.caller()) {
			marks.Hit("unreadable node")
			continue
		}
		c.notify(ev.Type, ev.Path)
		j.notifiedIDs = append(j.notifiedIDs, c.sessionID())
	}
	end := len(j.notifiedIDs)
	return j.notifiedIDs[start:end:end], watchers
}
