package twophase

import (
	"fmt"
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// judgeSafety follows each transaction through the model.
func (t *table) judgeSafety() lin.Verdict {
	committed, aborted := 0, 0
	for _, tx := range t.transactions {
		var state model.Transaction
		for _, f := range tx.facts {
			next := state.Step(tx.operation(f))
			if f.change || len(next) == 0 {
				why := tx.whyNotAllowed(state, f)
				why = strings.Replace(why, "somebody", judging.ByWhom(f.event, "somebody"), 1)
				return judging.Violated(lin.Safety, []int64{f.event.Step}, "%s%s", why,
					judging.During(t.history, f.event))
			}
			state = next[0]
			switch f.kind {
			case model.Commit:
				committed++
			case model.Abort:
				aborted++
			}
		}
	}
	return judging.Fine(lin.Safety, "%s committed with all votes, %d aborted for a reason",
		judging.Count(committed, "transaction"), aborted)
}

// whyNotAllowed returns the reason why a fact is not allowed, or "".
func (tx *transaction) whyNotAllowed(s model.Transaction, f fact) string {
	at := fmt.Sprintf("%s at step %d", tx.name, f.event.Step)
	if f.change {
		return tx.changeObjection(f, at)
	}
	switch f.kind {
	case model.BeginTransaction:
		return fmt.Sprintf("%s was begun %s, after it was forgotten", tx.name, at[len(tx.name)+1:])
	case model.VoteYes, model.VoteNo:
		if !slices.Contains(tx.sites, f.site) {
			return fmt.Sprintf("%s, which is no site of it, voted in %s", f.site, at)
		}
	case model.Commit:
		if s.Phase == model.Undecided {
			return fmt.Sprintf("somebody committed %s without the votes of %s",
				at, tx.named(s.Sites&^s.Yes))
		}
	case model.Abort:
		if s.Phase == model.Undecided {
			return fmt.Sprintf("somebody aborted %s, at %s, though nobody had voted no or gone, "+
				"and the deadline is %v", at, f.event.Time, tx.deadline)
		}
	case model.Forget:
		if s.Phase == model.Committed {
			return fmt.Sprintf("somebody forgot %s, before %s had finished what was committed",
				at, tx.named(s.Sites&^s.Done))
		}
	}
	what := strings.TrimSpace(f.site + " " + factNames[f.kind])
	return fmt.Sprintf("%s happened to %s, which %s", what, at, phaseNames[s.Phase])
}

// changeObjection is objection for a change of a znode that must not change.
func (tx *transaction) changeObjection(f fact, at string) string {
	switch {
	case f.kind == model.BeginTransaction:
		return "somebody changed " + at
	case f.site != "":
		return fmt.Sprintf("what %s had said (%s) was taken back or changed in %s",
			f.site, factNames[f.kind], at)
	}
	return fmt.Sprintf("the decision (%s) was taken back or changed in %s", factNames[f.kind], at)
}

var factNames = map[model.TransactionKind]string{
	model.BeginTransaction: "begin", model.VoteYes: "vote yes", model.VoteNo: "vote no",
	model.GoAway: "gone", model.Commit: "commit", model.Abort: "abort", model.Finish: "finished",
	model.Forget: "forget",
}

var phaseNames = map[model.TransactionPhase]string{
	model.NotBegun: "was not begun", model.Undecided: "is undecided",
	model.Committed: "is committed", model.Aborted: "is aborted", model.Forgotten: "was forgotten",
}
