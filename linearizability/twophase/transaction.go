package twophase

import (
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// transaction collects the calls and facts of one transaction.
type transaction struct {
	name     string
	sites    []string // nil if it was not begun
	deadline time.Duration
	begins   []lin.Op
	facts    []fact
}

// fact is one change of a transaction at the server.
type fact struct {
	event  lin.ServerEvent
	kind   model.TransactionKind
	site   string
	change bool // it changes a znode that must not change
}

// setBegin takes sites and deadline from the applied begin. Without a log it takes the successful
// begin, or else any.
func (tx *transaction) setBegin() {
	var begin lin.Op
	i := tx.fact(model.BeginTransaction, "")
	for _, op := range tx.begins {
		if begin.Kind == "" || i < 0 && op.OK() || i >= 0 && mayHaveCaused(op, tx, tx.facts[i]) {
			begin = op
		}
	}
	if sites := operand(begin, 1); sites != "" {
		tx.sites = strings.Split(sites, ",")
	}
	if d, err := time.ParseDuration(operand(begin, 2)); err == nil {
		tx.deadline = d
	}
}

// fact is the index of the first fact of a kind, and of a site unless that is ""; -1 if there is
// none.
func (tx *transaction) fact(kind model.TransactionKind, site string) int {
	return slices.IndexFunc(tx.facts, func(f fact) bool {
		return f.kind == kind && !f.change && (site == "" || f.site == site)
	})
}

// step is the step of the first fact of a kind and site, or never.
func (tx *transaction) step(kind model.TransactionKind, site string) int64 {
	if i := tx.fact(kind, site); i >= 0 {
		return tx.facts[i].event.Step
	}
	return judging.Never
}

// allows reports whether the state of the transaction at some moment of a call explains an answer.
// After a forbidden change any answer is possible.
func (tx *transaction) allows(op lin.Op, learned model.TransactionKind) bool {
	return tx.allowsSince(op.Call, op, learned)
}

// allowsSince is allows for an answer of any moment since a step.
func (tx *transaction) allowsSince(
	step int64, op lin.Op, learned model.TransactionKind,
) bool {
	var state model.Transaction
	for _, f := range tx.facts {
		if f.event.Step > step && len(state.Step(model.TransactionOp{Kind: learned})) > 0 {
			return true
		}
		if f.event.Step > op.Return {
			return false
		}
		next := state.Step(tx.operation(f))
		if f.change || len(next) == 0 {
			return true
		}
		state = next[0]
	}
	return len(state.Step(model.TransactionOp{Kind: learned})) > 0
}

// operation returns a fact as an operation on the model.
func (tx *transaction) operation(f fact) model.TransactionOp {
	op := model.TransactionOp{
		Kind: f.kind, Late: tx.deadline > 0 && f.event.Time >= tx.deadline,
	}
	switch f.kind {
	case model.BeginTransaction:
		op.Sites = 1<<len(tx.sites) - 1
	case model.VoteYes, model.VoteNo, model.GoAway, model.Finish:
		op.Sites = tx.bit(f.site)
	}
	return op
}

// bit returns the bit of a site. The last bit stands for a name that is no site of the transaction.
func (tx *transaction) bit(site string) model.Sites {
	if i := slices.Index(tx.sites, site); i >= 0 {
		return 1 << i
	}
	return 1 << 63
}

// named lists the sites of a set.
func (tx *transaction) named(set model.Sites) string {
	var names []string
	for i, name := range tx.sites {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
