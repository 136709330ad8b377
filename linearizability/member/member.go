package member

import (
	"fmt"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Claims claims to be a group or a registry. Its calls are [ops.Join], [ops.Update],
// [ops.Leave], [ops.Evict], [ops.Spoil], [ops.View] and [ops.Pick]. Names and data must be free of
// commas, and names of "="; one client uses each instance, unless there are rivals. The judge looks
// for no order of the operations. It compares the answers with the server's log:
//
//   - [lin.Safety]: no request deletes an instance of another client or writes into it, unless it
//     is an evict or a spoil.
//   - [lin.Answers]: a view shows the state of some moment. This moment is at most Within ago, and
//     not before the moments that earlier views of the client have shown. So each state that lasts
//     longer than Within is shown. A picked instance must fit a view in the same way.
//   - [lin.Presence]: a joined instance exists with its data, and comes back Within after a loss.
//     An instance that has left does not exist, and does not come back. One of the rivals has the
//     instance, with its data. Between a join and the next leave, the session that made an instance
//     does not delete it: other clients would see the member go.
//   - [lin.Liveness] and [lin.Orphans]: at rest every call has returned. No znode is left of an
//     instance that has left, or of a service without instances.
//
// Without the log only liveness and orphans are judged. Watches at rest are not judged, since a
// client cannot remove one.
type Claims struct {
	// Path is the directory of the group, or of the services.
	Path string
	// Services: the object is a registry. The instances lie one level deeper, and views show their
	// data. Without it, views show the names of one moment.
	Services bool
	// Instance returns the instance that a znode below Path stands for, and the instance's data, by
	// the path and the data of the znode; false if it stands for none. An instance exists while it
	// has a znode. Nil means that each znode has the name and the data of its instance.
	Instance func(path, znode string) (name, data string, ok bool)
	// Data: views of a group show data, too: "a=data,b=data". A view may show its members at
	// different moments.
	Data bool
	// Rivals: several clients compete for the same instance. One has it at a time; another gets it
	// after the first has left or lost its session.
	Rivals bool
	// Late limits the time of a request on its way. A rival may send a request while it has the
	// instance; before the request arrives, the instance may be evicted and taken by another rival.
	// Such a late request may hit the other's instance.
	Late time.Duration
	// Replaces: an update may delete the instance and create it anew.
	Replaces bool
	// Hidden are instances that views do not show because clients may not read them.
	Hidden []string
	// Within limits the lag of a view, and the time for which a registered instance may be missing
	// or have other data. It must be longer than the faults. 0 means that this is not judged.
	Within time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (Claims) Properties() []string {
	return []string{lin.Safety, lin.Answers, lin.Presence, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newTable(h.Sorted(), claims)
	var r lin.Report
	if t.log.Known {
		r.Add(t.judgeSafety(), t.judgeViews(), t.judgePresence())
	}
	r.Add(judging.Returns(t.history, left, nil)...)
	if left != nil {
		r.Add(judging.Orphans(left, claims.AllowedAtRest, t.orphans(left), judging.AnyWatch))
	}
	return r
}

// table is one history of a group or registry, and the timeline of each instance.
type table struct {
	history lin.History
	claims  Claims
	log     judging.Log
	truth   timelines
	named   map[string]string // the instance of each znode, with claims.Instance
}

func newTable(h lin.History, claims Claims) *table {
	t := &table{history: h, claims: claims, log: judging.ReadLog(h.Server)}
	t.named = t.nameZnodes()
	t.truth = readTimelines(h.Server, t.entry)
	return t
}

// nameZnodes asks claims.Instance for the instance of each znode below the path.
func (t *table) nameZnodes() map[string]string {
	if t.claims.Instance == nil {
		return nil
	}
	named := map[string]string{}
	for _, e := range t.history.Server {
		if e.Kind == lin.NodeCreated && judging.Below(t.claims.Path, e.Path) {
			if name, _, ok := t.claims.Instance(e.Path, e.Data); ok {
				named[e.Path] = name
			}
		}
	}
	return named
}

// instance returns the instance that a znode stands for.
func (t *table) instance(path string) (string, bool) {
	if t.claims.Instance != nil {
		name, ok := t.named[path]
		return name, ok
	}
	name, ok := strings.CutPrefix(path, strings.TrimSuffix(t.claims.Path, "/")+"/")
	depth := 0
	if t.claims.Services {
		depth = 1
	}
	return name, ok && strings.Count(name, "/") == depth && !slices.Contains(t.claims.Hidden, name)
}

// entry returns the instance of an event at the server, and its data.
func (t *table) entry(e lin.ServerEvent) (instance, data string, ok bool) {
	instance, ok = t.instance(e.Path)
	data = e.Data
	if ok && t.claims.Instance != nil && e.Kind != lin.NodeDeleted {
		_, data, _ = t.claims.Instance(e.Path, e.Data)
	}
	return instance, data, ok && !judging.IsSessionEvent(e)
}

// cutData splits "web/a=data" in two.
func cutData(text string) (instance, data string) {
	instance, data, _ = strings.Cut(text, "=")
	return instance, data
}

func instanceOf(op lin.Op) string {
	instance, _ := cutData(op.Input)
	return instance
}

// judgeSafety looks for instances that another client deleted or wrote.
func (t *table) judgeSafety() lin.Verdict {
	for _, z := range t.log.Znodes {
		instance, ok := t.instance(z.Path)
		if !ok || z.Creator == "" {
			continue
		}
		removal := lin.ServerEvent{
			Client: z.Remover, Session: z.RemoverSession, Step: z.Deleted, Time: z.DeletedTime,
		}
		if z.Deleted != judging.Never && !z.WithSession && t.isForeign(z, removal, ops.Evict,
			instance) {
			return judging.Violated(lin.Safety, []int64{z.Deleted}, "%s deleted %s at step %d, which was %s's%s",
				z.Remover, z.Path, z.Deleted, z.Creator, judging.During(t.history, removal))
		}
		for _, e := range t.history.Server {
			if e.Kind == lin.DataChanged && e.Path == z.Path && z.ExistsAt(e.Step) &&
				t.isForeign(z, e, ops.Spoil, instance) {
				return judging.Violated(lin.Safety, []int64{e.Step},
					"%s wrote %q into %s at step %d, which was %s's%s",
					e.Client, e.Data, z.Path, e.Step, z.Creator, judging.During(t.history, e))
			}
		}
	}
	return judging.Fine(lin.Safety, "nobody deleted or changed what was another's")
}

// isForeign reports whether a client changed an instance that it does not own, without a call of
// the kind for it.
func (t *table) isForeign(z *judging.Znode, change lin.ServerEvent, kind, instance string) bool {
	if change.Client == "" || change.Client == z.Creator || t.isLate(z, change) ||
		t.succeeds(z, change, instance) {
		return false
	}
	for _, op := range t.history.Ops {
		if op.Kind == kind && op.Client == change.Client && op.Input == instance &&
			began(op, change.Step) {
			return false
		}
	}
	return true
}

// succeeds reports whether the process that made a znode has died, and the client that changed it
// had begun to join the instance: it is the next process of the same owner.
func (t *table) succeeds(z *judging.Znode, change lin.ServerEvent, instance string) bool {
	died, dead := judging.FirstNotice(t.history, z.Creator, z.Created, lin.Died)
	return dead && died.Step <= change.Step && !t.claims.Rivals &&
		slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
			return op.Kind == ops.Join && op.Client == change.Client && op.Call <= change.Step &&
				instanceOf(op) == instance
		})
}

// isLate reports whether a change was meant for an instance that its session had shortly before.
func (t *table) isLate(z *judging.Znode, change lin.ServerEvent) bool {
	return t.claims.Rivals && slices.ContainsFunc(t.log.Znodes, func(own *judging.Znode) bool {
		return own.Path == z.Path && own.Creator == change.Client && own.Owner == change.Session &&
			own.Deleted <= z.Created && change.Time-own.DeletedTime <= t.claims.Late
	})
}

// orphans returns the znodes at rest of instances that have left.
func (t *table) orphans(left *lin.Leftovers) []judging.Orphan {
	var list []judging.Orphan
	for _, o := range judging.LeftBelow(t.history, left, t.claims.Path) {
		instance, ok := t.instance(o.Node.Path)
		if !ok {
			o.Why = "is left without instances" + t.lastDeleted(o.Node.Path)
		} else if t.joinedAtEnd(instance) {
			continue
		}
		list = append(list, o)
	}
	return list
}

// lastDeleted says who deleted the last znode below another one.
func (t *table) lastDeleted(path string) (text string) {
	for _, e := range t.history.Server {
		if e.Kind == lin.NodeDeleted && judging.Below(path, e.Path) {
			text = fmt.Sprintf(" since %s deleted %s at step %d%s",
				judging.ByWhom(e, "the server"), e.Path, e.Step, judging.During(t.history, e))
		}
	}
	return text
}

// joinedAtEnd reports whether the instance has perhaps joined, without a later call to leave.
func (t *table) joinedAtEnd(instance string) bool {
	joined := map[string]bool{} // by client
	for _, op := range t.history.Ops {
		if instanceOf(op) != instance {
			continue
		}
		switch {
		case op.Kind == ops.Join:
			joined[op.Client] = true
		case op.Kind == ops.Leave && op.Outcome != lin.OpFailed:
			delete(joined, op.Client)
		}
	}
	return len(joined) > 0
}
