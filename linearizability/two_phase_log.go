package linearizability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/model"
)

// statement is what a znode says.
type statement struct {
	kind model.TransactionKind
	site string
}

// readLog turns the server's changes below the path into facts about transactions.
func (c *twoPhaseCase) readLog() {
	said := map[string]statement{} // of the znodes, by their paths
	for i, e := range c.history.Server {
		if !below(c.opts.Path, e.Path) || e.Kind == SessionStarted || e.Kind == SessionEnded {
			continue
		}
		name, child, inside := strings.Cut(strings.TrimPrefix(e.Path, strings.TrimSuffix(c.opts.Path, "/")+"/"), "/")
		if !inside {
			c.changed(name, e)
			continue
		}
		before, spoke := said[e.Path]
		delete(said, e.Path)
		kind, site, says := c.opts.Read(child, e.Data)
		now := statement{kind, site}
		if says = says && e.Kind != NodeDeleted; says {
			said[e.Path] = now
		}
		switch {
		case !spoke && says && kind != model.GoAway:
			c.add(name, fact{event: e, kind: kind, site: site})
		case spoke && !says && before.kind == model.GoAway && !c.atOnce(i, NodeCreated, e.Path):
			c.add(name, fact{event: e, kind: model.GoAway, site: before.site})
		case spoke && before.kind != model.GoAway && (!says || now != before) && !c.atOnce(i, NodeDeleted, c.pathOf(name)):
			c.add(name, fact{event: e, kind: before.kind, site: before.site, change: true})
		}
	}
}

// changed is a change of the transaction's own znode. Others below the path are
// none, unless they are begun as one.
func (c *twoPhaseCase) changed(name string, e ServerEvent) {
	switch {
	case !c.isTransaction(name):
	case e.Kind == NodeCreated:
		c.add(name, fact{event: e, kind: model.BeginTransaction})
	case e.Kind == NodeDeleted:
		c.add(name, fact{event: e, kind: model.Forget})
	default:
		c.add(name, fact{event: e, kind: model.BeginTransaction, change: true})
	}
}

// isTransaction reports whether somebody speaks of a transaction of that name.
func (c *twoPhaseCase) isTransaction(name string) bool {
	return slices.ContainsFunc(c.history.Ops, func(op Op) bool { return aboutTransaction(op) && operand(op, 0) == name })
}

func (c *twoPhaseCase) add(name string, f fact) {
	t := c.transaction(name)
	t.facts = append(t.facts, f)
}

func (c *twoPhaseCase) pathOf(name string) string {
	return strings.TrimSuffix(c.opts.Path, "/") + "/" + name
}

// atOnce reports whether a path is created or deleted, after the i-th event, by the
// same request.
func (c *twoPhaseCase) atOnce(i int, kind ServerEventKind, path string) bool {
	for _, e := range c.history.Server[i:] {
		if e.Zxid != c.history.Server[i].Zxid {
			break
		}
		if e.Kind == kind && e.Path == path {
			return true
		}
	}
	return false
}

// judgeSafety follows each transaction through the model.
func (c *twoPhaseCase) judgeSafety() Verdict {
	committed, aborted := 0, 0
	for _, t := range c.transactions {
		var state model.Transaction
		for _, f := range t.facts {
			next := state.Step(t.operation(f))
			if f.change || len(next) == 0 {
				return violated(Safety, []int64{f.event.Step}, "%s", t.objection(state, f))
			}
			state = next[0]
			switch {
			case f.kind == model.Commit:
				committed++
			case f.kind == model.Abort:
				aborted++
			}
		}
	}
	return fine(Safety, "%s committed with all votes, %d aborted for a reason", count(committed, "transaction"), aborted)
}

// operation is a fact as an operation on the model.
func (t *transaction) operation(f fact) model.TransactionOp {
	op := model.TransactionOp{Kind: f.kind, Late: t.deadline > 0 && f.event.Time >= t.deadline}
	switch f.kind {
	case model.BeginTransaction:
		op.Sites = 1<<len(t.sites) - 1
	case model.VoteYes, model.VoteNo, model.GoAway, model.Finish:
		op.Sites = t.bit(f.site)
	}
	return op
}

// bit stands for a site; that of a stranger is none of a transaction's.
func (t *transaction) bit(site string) model.Sites {
	for i, name := range t.sites {
		if name == site {
			return 1 << i
		}
	}
	return 1 << 63
}

// named lists the sites of a set.
func (t *transaction) named(set model.Sites) string {
	var names []string
	for i, name := range t.sites {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// objection says why a fact is none that may be.
func (t *transaction) objection(s model.Transaction, f fact) string {
	at := fmt.Sprintf("%s at step %d", t.name, f.event.Step)
	switch {
	case f.change && f.kind == model.BeginTransaction:
		return "somebody changed " + at
	case f.change && f.site != "":
		return fmt.Sprintf("what %s had said (%s) was taken back or changed in %s", f.site, factNames[f.kind], at)
	case f.change:
		return fmt.Sprintf("the decision (%s) was taken back or changed in %s", factNames[f.kind], at)
	}
	switch f.kind {
	case model.BeginTransaction:
		return fmt.Sprintf("%s was begun %s, after it was forgotten", t.name, at[len(t.name)+1:])
	case model.VoteYes, model.VoteNo:
		if !slices.Contains(t.sites, f.site) {
			return fmt.Sprintf("%s, which is no site of it, voted in %s", f.site, at)
		}
	case model.Commit:
		if s.Phase == model.Undecided {
			return fmt.Sprintf("somebody committed %s without the votes of %s", at, t.named(s.Sites&^s.Yes))
		}
	case model.Abort:
		if s.Phase == model.Undecided {
			return fmt.Sprintf("somebody aborted %s, %s, though nobody had voted no or gone, and the deadline is %v", at, f.event.Time, t.deadline)
		}
	case model.Forget:
		if s.Phase == model.Committed {
			return fmt.Sprintf("somebody forgot %s, before %s had finished what was committed", at, t.named(s.Sites&^s.Done))
		}
	}
	return fmt.Sprintf("%s happened to %s, which %s", strings.TrimSpace(f.site+" "+factNames[f.kind]), at, phaseNames[s.Phase])
}

var factNames = map[model.TransactionKind]string{
	model.BeginTransaction: "begin", model.VoteYes: "vote yes", model.VoteNo: "vote no", model.GoAway: "gone",
	model.Commit: "commit", model.Abort: "abort", model.Finish: "finished", model.Forget: "forget",
}

var phaseNames = map[model.TransactionPhase]string{
	model.NotBegun: "was not begun", model.Undecided: "is undecided",
	model.Committed: "is committed", model.Aborted: "is aborted", model.Forgotten: "was forgotten",
}
