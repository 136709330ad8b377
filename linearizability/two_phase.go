package linearizability

import (
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/model"
)

// The kinds of operations of a two-phase commit. Input begins with the name of the
// transaction; then come, after a blank, the site that it is about, and of a vote "yes"
// or "no": "t1 a yes". That of [KindBegin] is made by [BeginInput].
const (
	KindBegin  = "begin"
	KindVote   = "vote"
	KindAwait  = "await" // Output is [CommitOutput] or [AbortOutput]; Empty: there is no such transaction
	KindDone   = "done"  // a site has finished what was decided
	KindForget = "forget"
)

// The outputs of an await.
const (
	CommitOutput = "commit"
	AbortOutput  = "abort"
)

// BeginInput is the input of a begin: the transaction, its sites and its deadline on
// the clock of the history, 0 if there is none.
func BeginInput(transaction string, sites []string, deadline time.Duration) string {
	return transaction + " " + strings.Join(sites, ",") + " " + deadline.String()
}

// TransactionReader tells what a znode says, by its name below the transaction and its
// data: of a site that it votes yes or no ([model.VoteYes], [model.VoteNo]), has
// finished ([model.Finish]), or is there ([model.GoAway], when the znode goes); or
// [model.Commit] or [model.Abort]. Not ok means that it says none of these.
type TransactionReader func(name, data string) (says model.TransactionKind, site string, ok bool)

// TwoPhase say what a two-phase commit claims to be.
type TwoPhase struct {
	// Path is the directory of the transactions, which there are none of at first: t1 is
	// Path/t1, which exists from its begin until it is forgotten.
	Path string
	// Read tells what the znodes of a transaction say. Nil reads those of
	// recipes.TwoPhaseCommit.
	Read TransactionReader
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// JudgeTwoPhase judges the history of two-phase commits: operations of the kinds
// [KindBegin], [KindVote], [KindAwait], [KindDone] and [KindForget]; others are ignored.
// Rest may be nil.
//
// With the server's log, safety is that each transaction went the way that
// [model.Transaction] allows: committed only with the votes of all sites, aborted only
// for a reason, neither a vote nor a decision ever changed, and not forgotten
// before all that were told to commit have finished. Delivery is that what was
// acknowledged was done, and what failed was not. Answers, which needs no log, is that
// all who were told of a decision were told the same, and what was so.
func (opts TwoPhase) judge(h History, rest *Leftovers) Report {
	c := newTwoPhaseCase(h.sorted(), opts)
	var r Report
	if c.known {
		r.Verdicts = append(r.Verdicts, c.judgeSafety())
	}
	r.Verdicts = append(r.Verdicts, c.judgeAnswers())
	if c.known {
		r.Verdicts = append(r.Verdicts, c.judgeDelivery())
	}
	r.Verdicts = append(r.Verdicts, c.history.judgeReturns(rest, nil)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, opts.AllowedAtRest, leftBelow(rest, opts.Path), c.history.waits))
	}
	return r
}

// twoPhaseCase is one history of two-phase commits, prepared for judging.
type twoPhaseCase struct {
	history      History
	opts         TwoPhase
	known        bool
	transactions []*transaction // in the order in which they are first heard of
}

// transaction is all there is about one of them.
type transaction struct {
	name     string
	sites    []string // nil if nobody has begun it
	deadline time.Duration
	begins   []Op
	facts    []fact
}

// fact is something that the server did to a transaction.
type fact struct {
	event  ServerEvent
	kind   model.TransactionKind
	site   string
	change bool // of something that must not change
}

func newTwoPhaseCase(h History, opts TwoPhase) *twoPhaseCase {
	if opts.Read == nil {
		opts.Read = readTransactionNode
	}
	c := &twoPhaseCase{history: h, opts: opts, known: h.Server != nil}
	for _, op := range h.Ops {
		if op.Kind == KindBegin {
			t := c.transaction(operand(op, 0))
			t.begins = append(t.begins, op)
		}
	}
	c.readLog()
	for _, t := range c.transactions {
		t.begun()
	}
	return c
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
	case name == "decision" && word == CommitOutput:
		return model.Commit, "", true
	case name == "decision" && word == AbortOutput:
		return model.Abort, "", true
	}
	return 0, "", false
}

// aboutTransaction reports whether an operation's input begins with a transaction.
func aboutTransaction(op Op) bool {
	switch op.Kind {
	case KindBegin, KindVote, KindAwait, KindDone, KindForget:
		return true
	}
	return false
}

// operand is the n-th word of an operation's input, "" if there is none.
func operand(op Op, n int) string {
	words := strings.Split(op.Input, " ")
	if n >= len(words) {
		return ""
	}
	return words[n]
}

// transaction returns the one of a name.
func (c *twoPhaseCase) transaction(name string) *transaction {
	for _, t := range c.transactions {
		if t.name == name {
			return t
		}
	}
	t := &transaction{name: name}
	c.transactions = append(c.transactions, t)
	return t
}

// begun learns sites and deadline from the begin that was applied; without a log,
// from the one that succeeded, or else from any.
func (t *transaction) begun() {
	var begin Op
	i := t.fact(model.BeginTransaction, "")
	for _, op := range t.begins {
		if begin.Kind == "" || i < 0 && op.ok() || i >= 0 && accounts(op, t, t.facts[i]) {
			begin = op
		}
	}
	if sites := operand(begin, 1); sites != "" {
		t.sites = strings.Split(sites, ",")
	}
	if d, err := time.ParseDuration(operand(begin, 2)); err == nil {
		t.deadline = d
	}
}

// fact is the index of the first fact of a kind, of a site unless that is "", or -1.
func (t *transaction) fact(kind model.TransactionKind, site string) int {
	return slices.IndexFunc(t.facts, func(f fact) bool { return f.kind == kind && !f.change && (site == "" || f.site == site) })
}

// step is where something first happened, or never.
func (t *transaction) step(kind model.TransactionKind, site string) int64 {
	if i := t.fact(kind, site); i >= 0 {
		return t.facts[i].event.Step
	}
	return never
}

// was reports whether, at some moment of a call, the server's transaction was such
// that it could be learned. After what may not happen anything could.
func (t *transaction) was(op Op, learned model.TransactionKind) bool {
	var state model.Transaction
	for _, f := range t.facts {
		if f.event.Step > op.Call && len(state.Step(model.TransactionOp{Kind: learned})) > 0 {
			return true
		}
		if f.event.Step > op.Return {
			return false
		}
		next := state.Step(t.operation(f))
		if f.change || len(next) == 0 {
			return true
		}
		state = next[0]
	}
	return len(state.Step(model.TransactionOp{Kind: learned})) > 0
}
