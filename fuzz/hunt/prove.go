package hunt

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Bounds say how large the runs are that [Prove] plays, and how long it may take. Memory grows with
// the number of plans: the name of each is kept, and of those left what is to be tried under them.
// With two faults there are often a hundred times as many as with one.
type Bounds struct {
	// Faults is the greatest number of faults of a run. They are of the kinds that take no time,
	// and are not faults of servers.
	Faults int
	// Lasting are lengths of faults of the other kinds, which are tried only with these.
	Lasting []time.Duration
	// HideCounts promises that the code does not look at how many children a node has, and when one
	// came or went: at Cversion, NumChildren and Pzxid of a [zk.Stat] in replies that do not list
	// them. Then this is hidden, and a read of a node commutes with a create or delete below it.
	HideCounts bool
	// Runs is the greatest number of runs, and For the real time to spend; 0 is no bound.
	Runs int
	For  time.Duration
	// Part is the share of this process. Of the plans with the most faults it tries every N-th one.
	// Those with fewer faults tell which these are, so every process tries them; the first one
	// counts them.
	Part Part
	// Resume, if not empty, is a file with what is left to try. It is read if it is there, written
	// every minute and at an early end without a violation, and removed when all is tried. Work
	// names what it is about, with the build of the code; a file of other work is an error.
	Resume, Work string
	// Progress, if not nil, is called from time to time. It must not change its argument.
	Progress func(*Proof)
}

// A Proof says what the runs of a scenario have shown.
type Proof struct {
	Scenario scenario.Scenario
	Bounds   Bounds // as given
	// Runs counts the runs that were begun. Classes are those that were played to their end: one
	// for each class of runs with equal orders. Redundant are the others, which ended as soon as
	// all that could follow was known from other runs. They differ from a class only in the order
	// of things that commute. A run that its fault does not reach is redundant, too.
	Runs, Classes, Redundant int
	// Views counts the classes that differ in what some client has done, sent and got, up to
	// MostViews.
	Views int
	// Plans counts the plans of faults, with the empty one, and Tried those whose runs were all
	// tried.
	Plans, Tried int
	// Complete says that every run within the bounds was played, or equals one that was.
	Complete bool
	// Counts says that the code is told the true counts of children, because Bounds does not
	// promise that it looks at none, or because a run has shown that it does.
	Counts bool
	// Violation is the first violation, which ends the search; nil if there is none.
	Violation *scenario.Outcome
	// Undecided counts the classes, and runs with the times of a hunt, without a violation but with
	// an unknown verdict. FirstUndecided is the first of them, nil if there is none.
	Undecided      int
	FirstUndecided *scenario.Outcome

	// Estimate is an estimate of the number of runs that Prove would begin without bounds on its
	// time, from those so far. Of a tree, each run stands for a share, as if the ways on at each
	// choice led to equally many runs (Knuth, Estimating the Efficiency of Backtrack Programs,
	// 1975). Each known plan counts as an average one. If one way has most of the runs, the
	// estimate is far too low until these are tried.
	Estimate float64

	calm    bool // all runs without a fault were tried, and hold
	seen    basis
	views   map[uint64]bool
	unclear int // the fewest faults of a run with an unknown verdict
	// fewest says that all runs with fewer faults than Violation were tried, and none violates
	// anything.
	fewest bool
}

// Prove plays every run of a small scenario, once for each class of runs with equal orders: every
// order in which the requests of different clients reach the server, as far as a client or a judge
// can tell it, in which messages, ends of dials, of pauses and of contexts reach one client, in
// which servers apply changes, and every plan of at most b.Faults faults of one server. It ends
// early, without an error, at the first violation or at a bound. It returns the result so far and
// the error of the context when ctx is done. It tries all runs with fewer faults before one with
// more, so a violation has as few as possible; see [Proof.Smallest].
//
// Two clients are never held to be alike, so that only one of two runs in which they have changed
// places would be played: their scripts differ in what they draw, and the code may compare names.
//
// See [sim.Turns] for what is chosen and [trace.Thing.Commutes] for what makes two orders equal.
// What is not chosen is fixed:
//
//   - The script, and all that it draws by the seed: payloads, pauses, contexts. So is what the
//     code draws by crypto/rand.
//   - Time passes when nothing is under way. So timers, the client's own and those of the code,
//     come behind all messages that were sent before, and those of one instant in one order. So do
//     the ends of contexts of the script that last longer than [sim.Lateness]. Shorter ones, and
//     such pauses, take no time, so no timer ends within such a pause. The pauses of a client add
//     up to at most that ahead of a message on its way. A session does not end between two sleeps
//     of the code in one call.
//   - With a fault, at one server, the order of the begins and ends of calls of different clients
//     for each order of their requests. Tried are the orders in which one hold ends, or its client
//     hears that it may have, and another begins: of a lock, a lease, leadership, an element that
//     was taken, and between enter or join and leave. So are those of a begin and an end of calls
//     of a barrier, and those of a call that is answered from memory, or returns after a loss of
//     the client's own connection, and the begins and ends of others. Without a fault all orders
//     of a begin and an end are tried.
//   - The order of changes that no client can tell apart; two creates below one node come in both
//     orders if order is judged. Which of two calls begins first, and which ends first, if neither
//     ends before the other begins. Whether a request reaches the server before or after another
//     client's call begins or ends; both are tried if the request deletes an ephemeral node of
//     another client, or if it changes something and the call is one of a barrier or of a two-phase
//     commit. All these are tried if the judge is the user's, such as an invariant:
//     [scenario.Workload] lists no Properties, or one that is none of package linearizability.
//   - What else happens when a client hears that it is connected.
//   - Which server each client dials first. No server is behind while time passes.
//   - The order of the names in a list of children.
//   - Handshakes, pings and idle connections, which no fault strikes.
//   - Goroutines of one client that one thing wakes go on in one order.
//   - Of two writes that commute, which one has the higher zxid: code that compares the Czxid or
//     the Mzxid of nodes sees one order. So does code that compares the ids of sessions.
//   - With b.HideCounts, what code does that looks at counts all the same. It is noticed if a run
//     without a fault, the first run of a plan, or one that is not OK is another with true counts.
//   - What happens after all scripts have ended comes in one order.
//
// Beside these runs, Prove plays each plan as a hunt does: messages, pauses and contexts take the
// time that they have by the seed. It does so twice, and it is an error if these two runs differ.
// They are not in the counts of runs, and no fault is tried in them at what the other runs never
// reach.
//
// The result, and the order in which it visits the classes, depends on the arguments alone, unless
// b.For or ctx ends it.
func Prove(ctx context.Context, s scenario.Scenario, b Bounds) (*Proof, error) {
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	p := newProver(s)
	p.Bounds, p.Counts = b, !b.HideCounts
	if s.On != nil {
		return nil, fmt.Errorf("prove: servers: expected servers in memory")
	}
	// Only a run in which time passes shows that clients share a connection.
	base, err := saved.Play(p.Scenario)
	if err == nil {
		err = checkCalm(base)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Scenario, err)
	}
	if err := p.resume(); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Resume, err)
	}
	return p.Proof, p.run(ctx)
}

// Check reports what is wrong with the numbers of faults and their lengths.
func (b Bounds) Check() error {
	lengths := slices.Clone(b.Lasting)
	slices.Sort(lengths)
	switch n := len(lengths); {
	case b.Faults < 0 || b.Faults > MostFaults:
		return fmt.Errorf("faults: %d; expected 0 to %d", b.Faults, MostFaults)
	case n > 0 && b.Faults == 0:
		return fmt.Errorf("lasting: %v; expected none without faults", b.Lasting)
	case n > 0 && (lengths[0] < time.Millisecond || lengths[n-1] > fault.MostDuration),
		len(slices.Compact(lengths)) < n:
		return fmt.Errorf("lasting: %v; expected lengths of 1ms to %v, each once",
			b.Lasting, fault.MostDuration)
	}
	return nil
}

// MostViews bounds the number of views that a proof keeps in memory.
const MostViews = 1 << 20
