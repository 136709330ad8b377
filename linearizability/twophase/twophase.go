package twophase

import (
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// BeginInput returns the Input of a begin: the transaction, its sites and its deadline on the clock
// of the history, 0 if there is none.
func BeginInput(transaction string, sites []string, deadline time.Duration) string {
	return transaction + " " + strings.Join(sites, ",") + " " + deadline.String()
}

// TransactionReader returns the meaning of a znode, given its name below the transaction and its
// data: a site votes yes or no ([model.VoteYes], [model.VoteNo]), has finished ([model.Finish]), or
// is present until the znode is deleted ([model.GoAway]); or the decision is [model.Commit] or
// [model.Abort]. It returns false for all other znodes.
type TransactionReader func(name, data string) (says model.TransactionKind, site string, ok bool)

// Claims claims to be a two-phase commit. Its calls are [ops.Begin], [ops.Vote], [ops.Await],
// [ops.Done] and [ops.Forget].
//
// Safety, with the server's log: each transaction follows [model.Transaction]. It is committed only
// with the votes of all sites, and aborted only for a reason. Votes and decisions never change, and
// a commit is not forgotten before all sites have finished it. Delivery: acknowledged calls took
// effect, and failed calls did not. Answers: all awaits return the same decision; with the log, the
// server's decision.
type Claims struct {
	// Path is the directory of the transactions, empty at first. The znode Path/t1 exists from the
	// begin of t1 until its forget.
	Path string
	// Read returns the meaning of a transaction's znodes. Nil reads those of
	// recipes.TwoPhaseCommit.
	Read TransactionReader
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
	// StaleReads: an answer about a transaction may be that of a server that lags behind.
	StaleReads bool
}

// Properties implements [lin.Claims].
func (Claims) Properties() []string {
	return []string{lin.Safety, lin.Answers, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	claims.StaleReads = judging.StaleReads(h, claims.StaleReads)
	t := newTable(h.Sorted(), claims)
	var r lin.Report
	r.Add(t.judgeAnswers())
	if t.known {
		r.Add(t.judgeSafety(), t.judgeDelivery())
	}
	r.Add(judging.Returns(t.history, left, nil)...)
	if left != nil {
		r.Add(
			judging.Orphans(left, claims.AllowedAtRest,
				judging.LeftBelow(t.history, left, claims.Path),
				judging.Waits(t.history)),
		)
	}
	if t.known && !claims.StaleReads {
		claims.StaleReads = true
		judging.NameStaleReads(&r, h, left, claims)
	}
	return r
}

// table is one history of two-phase commits, by transaction.
type table struct {
	history      lin.History
	claims       Claims
	known        bool           // the server's log is known
	transactions []*transaction // in the order of their first mention
}

func newTable(h lin.History, claims Claims) *table {
	if claims.Read == nil {
		claims.Read = readTransactionNode
	}
	t := &table{history: h, claims: claims, known: h.Server != nil}
	for _, op := range h.Ops {
		if op.Kind == ops.Begin {
			tx := t.transaction(operand(op, 0))
			tx.begins = append(tx.begins, op)
		}
	}
	t.readLog()
	for _, tx := range t.transactions {
		tx.setBegin()
	}
	return t
}

// transaction returns the transaction of a name, a new one if there is none.
func (t *table) transaction(name string) *transaction {
	for _, tx := range t.transactions {
		if tx.name == name {
			return tx
		}
	}
	tx := &transaction{name: name}
	t.transactions = append(t.transactions, tx)
	return tx
}

// readTransactionNode reads the znodes of recipes.TwoPhaseCommit.
func readTransactionNode(name, data string) (says model.TransactionKind, site string, ok bool) {
	what, site, _ := strings.Cut(name, "-")
	word, _, _ := strings.Cut(data, " ")
	switch {
	case what == "vote" && word == "yes":
		return model.VoteYes, site, true
	case what == "vote" && word == "no":
		return model.VoteNo, site, true
	case what == "alive":
		return model.GoAway, site, true
	case what == "done":
		return model.Finish, site, true
	case name == "decision" && word == ops.Commit:
		return model.Commit, "", true
	case name == "decision" && word == ops.Abort:
		return model.Abort, "", true
	}
	return 0, "", false
}

// aboutTransaction reports whether operations of this kind name a transaction in their input.
func aboutTransaction(op lin.Op) bool {
	switch op.Kind {
	case ops.Begin, ops.Vote, ops.Await, ops.Done, ops.Forget:
		return true
	}
	return false
}

// operand is the n-th word of an operation's input, "" if there is none.
func operand(op lin.Op, n int) string {
	words := strings.Split(op.Input, " ")
	if n >= len(words) {
		return ""
	}
	return words[n]
}
