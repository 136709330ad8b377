package linearizability

import (
	"slices"
	"strings"
	"time"
)

// The kinds of operations of group membership and of a service registry. An
// instance is a path below [Membership.Path]: of a group its member's name
// ("a"), of a registry service and instance ("web/a").
const (
	KindJoin   = "join"   // register; Input is the instance and its data: "web/a=data"
	KindUpdate = "update" // of the data; Input likewise
	KindLeave  = "leave"  // Input is the instance
	KindEvict  = "evict"  // delete somebody's znode; Input is the instance
	KindSpoil  = "spoil"  // write into somebody's znode; Input is the instance
	KindView   = "view"   // Output is what was shown: "a,b" of a group, "web/a=data,web/b=data" of a registry
	KindPick   = "pick"   // Input is a service, Output the instance that was chosen, or Empty
)

// Membership say what a group or a registry claims to be.
type Membership struct {
	// Path is the directory of the group, or of the services.
	Path string
	// Services says that it is a registry: the instances lie one level deeper, and
	// views show their data. Otherwise views show the names of one moment.
	Services bool
	// Data says that views of a group show data, too, and each member as of a moment
	// of its own: "a=data,b=data".
	Data bool
	// Rivals says that several clients want the same instance. One has it at a time,
	// and the others have it when he has left or his session has ended.
	Rivals bool
	// Late is how long a request can be on its way: a rival has sent it when his own
	// instance was there, and meanwhile that was evicted and another has it. No
	// request can be told to spare that one.
	Late time.Duration
	// Hidden are instances that views do not show, as they may not be read.
	Hidden []string
	// Within is how long, in the time of the labels, a view may lag behind, and an
	// instance that is registered may be missing or have other data; 0 means that
	// this is not judged. It has to be longer than the faults.
	Within time.Duration
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// JudgeMembership judges the history of a group or a registry: operations of the
// kinds above; others are ignored. Names and data must be free of commas, and
// names of "="; one client uses each instance, unless there are rivals. Rest may be
// nil. It looks for no order of operations, but holds what was said against the
// server's log:
//
//   - [Safety]: nobody's request deletes an instance of somebody else or writes into
//     it, unless it is an evict or a spoil.
//   - [Answers]: what a view shows was so at some moment, for each client not before
//     the last one it showed, and not longer ago than Within. So views converge:
//     what has lasted for longer than Within shows. An instance that a strategy
//     picks is one of the view.
//   - [Presence]: what has joined is there, with its data, and comes back Within;
//     what has left is not, and does not come back. What rivals want, some one of
//     them has, with his data.
//   - [Liveness] and [Orphans]: at rest every call has returned, and nothing is left
//     of those who have left, nor of a service without instances.
//
// Without the log only liveness and orphans are judged. Watches at rest are not,
// since the client cannot take one back.
func (opts Membership) judge(h History, rest *Leftovers) Report {
	c := newMembershipCase(h.sorted(), opts)
	var r Report
	if c.log.known {
		r.Verdicts = []Verdict{c.judgeSafety(), c.judgeViews(), c.judgePresence()}
	}
	r.Verdicts = append(r.Verdicts, c.history.judgeReturns(rest, nil)...)
	if rest != nil {
		anybody := func(string) bool { return true }
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, opts.AllowedAtRest, c.leftover(rest), anybody))
	}
	return r
}

// membershipCase is one history of a group or registry, prepared for judging.
type membershipCase struct {
	history History
	opts    Membership
	log     serverLog
	truth   truth
}

func newMembershipCase(h History, opts Membership) *membershipCase {
	c := &membershipCase{history: h, opts: opts, log: readServer(h.Server)}
	c.log.known = h.Server != nil
	c.truth = readTruth(h.Server, c.instance)
	return c
}

// instance returns the instance that a znode stands for.
func (c *membershipCase) instance(path string) (string, bool) {
	name, ok := strings.CutPrefix(path, strings.TrimSuffix(c.opts.Path, "/")+"/")
	depth := 0
	if c.opts.Services {
		depth = 1
	}
	return name, ok && strings.Count(name, "/") == depth && !slices.Contains(c.opts.Hidden, name)
}

// cutData splits "web/a=data" in two.
func cutData(text string) (instance, data string) {
	instance, data, _ = strings.Cut(text, "=")
	return instance, data
}

// judgeSafety looks for instances that somebody else has deleted or written to.
func (c *membershipCase) judgeSafety() Verdict {
	for _, l := range c.log.lives {
		instance, ok := c.instance(l.path)
		if !ok || l.creator == "" {
			continue
		}
		removal := ServerEvent{Client: l.remover, Session: l.removerSession, Step: l.died, Time: l.diedTime}
		if l.died != never && !l.withSession && c.meddled(l, removal, KindEvict, instance) {
			return violated(Safety, []int64{l.died}, "%s deleted %s at step %d, which was %s's", l.remover, l.path, l.died, l.creator)
		}
		for _, e := range c.history.Server {
			if e.Kind == DataChanged && e.Path == l.path && l.aliveAt(e.Step) && c.meddled(l, e, KindSpoil, instance) {
				return violated(Safety, []int64{e.Step}, "%s wrote %q into %s at step %d, which was %s's", e.Client, e.Data, l.path, e.Step, l.creator)
			}
		}
	}
	return fine(Safety, "nobody deleted or changed what was another's")
}

// meddled reports whether somebody has changed an instance who neither owns it nor
// was asked to.
func (c *membershipCase) meddled(l *life, change ServerEvent, kind, instance string) bool {
	if change.Client == "" || change.Client == l.creator || c.late(l, change) {
		return false
	}
	for _, op := range c.history.Ops {
		inTime := op.Call <= change.Step && (!op.ok() || change.Step <= op.Return)
		if op.Kind == kind && op.Client == change.Client && op.Input == instance && inTime {
			return false
		}
	}
	return true
}

// late reports whether a change was meant for the instance that its session had
// shortly before.
func (c *membershipCase) late(l *life, change ServerEvent) bool {
	return c.opts.Rivals && slices.ContainsFunc(c.log.lives, func(own *life) bool {
		return own.path == l.path && own.creator == change.Client && own.owner == change.Session &&
			own.died <= l.born && change.Time-own.diedTime <= c.opts.Late
	})
}

// leftover returns what is left at rest of those that have left.
func (c *membershipCase) leftover(rest *Leftovers) []orphan {
	var list []orphan
	for _, o := range leftBelow(rest, c.opts.Path) {
		instance, ok := c.instance(o.node.Path)
		if !ok {
			o.why = "is left without instances"
		} else if c.joinedAtEnd(instance) {
			continue
		}
		list = append(list, o)
	}
	return list
}

// joinedAtEnd reports whether the instance has joined, or may have, and was not
// asked to leave since.
func (c *membershipCase) joinedAtEnd(instance string) bool {
	joined := map[string]bool{} // by client
	for _, op := range c.history.Ops {
		if instanceOf(op) != instance {
			continue
		}
		switch {
		case op.Kind == KindJoin:
			joined[op.Client] = true
		case op.Kind == KindLeave && op.Outcome != OpFailed:
			delete(joined, op.Client)
		}
	}
	return len(joined) > 0
}
