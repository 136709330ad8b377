package recipes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

var (
	// ErrNoTransaction says that there is no such transaction: it was not begun yet, or was
	// forgotten. If a site has voted yes and has not called Done, the error means that the
	// transaction was aborted.
	ErrNoTransaction = errors.New("there is no such transaction")
	// ErrTransactionExists is returned by Begin if the transaction was begun by an earlier call.
	ErrTransactionExists = errors.New("the transaction has been begun before")
	// ErrNotASite is returned by calls for a site that is not in the transaction.
	ErrNotASite = errors.New("not a site of the transaction")
	// ErrVoted is returned by Vote if the site has cast the opposite vote before.
	ErrVoted = errors.New("the site has voted otherwise")
	// ErrUndecided is returned by Done and Forget before there is a decision.
	ErrUndecided = errors.New("the transaction is not decided")
	// ErrUnfinished is returned by Forget if the transaction was committed and a site has not
	// called Done.
	ErrUnfinished = errors.New("a site has not finished the transaction")
)

// TwoPhaseCommit is one transaction that all its sites carry out, or none. Each site votes. The
// decision is commit only if all sites have voted yes, and abort otherwise. A coordinator calls
// Begin and then Await. The sites call Vote and Await, and call Done when they have carried out the
// decision. In the end any client calls Forget. No client waits for the coordinator: every Await
// decides as soon as there is a reason. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Agreement: all clients that learn a decision learn the same one. The decision is a node that
//     is created once. One transaction checks that every vote is there and creates the commit.
//   - Validity: commit only if every site has voted yes. Abort only if a site has voted no, a vote
//     is missing after the deadline, or a site that had joined (Join) has gone before it voted.
//   - Stability: neither a vote nor a decision changes. Vote may be repeated.
//   - No blocking: once there is a reason, one connected Await is enough for a decision, even if
//     sites or the coordinator have died.
//   - A committed transaction cannot be forgotten before all sites have called Done. So a late site
//     that has voted yes finds either the decision or ErrNoTransaction, which means abort; see
//     Forget.
//
// When the connection is lost, calls wait for it. When the session ends, they go on in the new one:
// votes and decision are persistent. Only the presence of a site (Join) ends with the session, and
// with Close. If the site has not voted by then, the transaction may be aborted. A done context
// ends a call. The error of Begin, Vote, Done and Forget wraps ErrAmbiguous if the change may have
// been made. After any other error the change was not made. Vote, Done and Forget can be called
// again after an error. After an error of Begin call Await or Read instead: another Begin would
// begin the transaction anew if it was forgotten meanwhile. An error of Await says nothing about
// the decision: call Await again, from any process.
//
// It cannot guarantee that a site carries out the decision. Sites may learn the decision, and carry
// it out, at different times. A deadline is judged by the clocks of the waiters: a fast clock may
// abort early, but never after another client's commit. Without a deadline, a site that neither
// votes nor joins delays the decision for ever. Any client with write access may vote for any site;
// see ACL.
//
// Each vote wakes all waiters: n times n notifications for n sites. A transaction has few sites.
// The guide proposes that only the coordinator watches the votes. Then all sites would be blocked
// if the coordinator dies.
//
// Layout:
//
//	<path>               persistent, data = the Transaction as JSON; use the name only once
//	<path>/vote-<site>   persistent, data = "yes" or "no"
//	<path>/alive-<site>  ephemeral, by Join
//	<path>/decision      persistent, data = "commit" or "abort <why>"
//	<path>/done-<site>   persistent, by Done
//	<dir>/begin-<guid>   beside path, persistent, while Begin runs
//
// A coordinator that dies in Begin can leave the last one. It can be deleted.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Two-phased Commit". There the sites write their
// votes into nodes of the coordinator, and each site derives the decision from the votes. With a
// deadline, two sites that look at different moments would not agree. The rule for late sites is
// "presumed abort" (Mohan, Lindsay and Obermarck, 1986).
type TwoPhaseCommit struct {
	lifecycle
	ballots request.NodeWatch // over the children

	mu      sync.Mutex
	present []*request.NamedEphemeral // the presence of sites that have joined
}

// Transaction is the subject of a TwoPhaseCommit. It does not change.
type Transaction struct {
	// Sites are the names of the sites that vote, one at least, each a name for one node.
	Sites []string `json:"sites"`
	// Deadline is the time from which a missing vote counts as a no; the zero Time means never.
	Deadline time.Time `json:"deadline,omitzero"`
	// Data is for the sites: the work to do.
	Data []byte `json:"data,omitempty"`
}

// Decision is the outcome of a transaction.
type Decision struct {
	Commit bool
	Why    string // the reason of an abort, for people: "b votes no"
}

// NewTwoPhaseCommit makes a handle for the transaction at path, for a coordinator, a site, or both.
// It sends nothing. The options that matter are ACL, RecheckEvery, Retry and Containers.
func NewTwoPhaseCommit(conn Conn, path string, opts ...Option) *TwoPhaseCommit {
	return &TwoPhaseCommit{
		lifecycle: newLifecycle(conn, "transaction", path, opts),
		ballots:   request.NodeWatch{Path: path},
	}
}

// Begin creates the transaction, in one request besides those for missing parents. If there is a
// transaction at this path already, it returns ErrTransactionExists. A coordinator need not be a
// site. A coordinator that may want to abort the transaction should be a site, and vote no.
func (c *TwoPhaseCommit) Begin(ctx context.Context, tx Transaction) error {
	data, err := tx.encode()
	if err != nil {
		return c.tasks.Explain("begin", err)
	}
	return task.ActAndSettle(ctx, c.tasks, "begin", func(
		r *request.Sender, t *task.Task[struct{}],
	) error {
		return c.begin(r, t, data)
	})
}

// Read returns the transaction, or ErrNoTransaction.
func (c *TwoPhaseCommit) Read(ctx context.Context) (Transaction, error) {
	return task.Ask(ctx, c.tasks, "read", c.read)
}

// Join shows that a site is there, until Close or the end of the session. If the site goes before
// it has voted, waiters abort without waiting for the deadline. A process may join for a site after
// an earlier process, and replaces it. A site need not join.
func (c *TwoPhaseCommit) Join(ctx context.Context, site string) error {
	return task.ActAndSettle(ctx, c.tasks, "join", func(
		r *request.Sender, t *task.Task[struct{}],
	) error {
		return c.join(r, t, site)
	})
}

// Vote records the vote of a site. The vote cannot be changed: a site that has voted yes must stay
// able to carry out the transaction until it knows the decision. If a vote was recorded before,
// Vote returns nil for the same vote and ErrVoted for the opposite one. A vote after the decision
// is recorded, but changes nothing.
func (c *TwoPhaseCommit) Vote(ctx context.Context, site string, yes bool) error {
	return task.Act(ctx, c.tasks, "vote in", func(r *request.Sender) error {
		return c.vote(r, site, yes)
	})
}

// Await waits for the decision, and makes it as soon as there is a reason. If there is no
// transaction it returns ErrNoTransaction at once.
func (c *TwoPhaseCommit) Await(ctx context.Context) (Decision, error) {
	return task.Ask(ctx, c.tasks, "await decision of", c.await)
}

// Done records that a site has carried out the decision, and will not ask for it again. Without a
// decision it returns ErrUndecided. If the transaction was forgotten it returns nil. Another
// process may call Done for a site that will never come back.
func (c *TwoPhaseCommit) Done(ctx context.Context, site string) error {
	return task.Act(ctx, c.tasks, "finish", func(r *request.Sender) error {
		return c.done(r, site)
	})
}

// Forget removes all nodes of a decided transaction at once. If there is no transaction, it returns
// nil. If the transaction was committed and a site has not called Done, it returns ErrUnfinished.
// An aborted transaction may be removed at any time: a late site that finds no transaction takes it
// for aborted. A Vote after Forget returns ErrNoTransaction.
func (c *TwoPhaseCommit) Forget(ctx context.Context) error {
	return task.Act(ctx, c.tasks, "forget", c.forget)
}

// Close ends calls under way with ErrClosed and takes back the presence of sites that have joined
// through this handle; votes stay. It waits until nothing is left to clean up or ctx is done; in
// the latter case the clean-up goes on. Later calls return ErrClosed. It leaves the Conn open. It
// returns the first error by which the server has refused to remove a presence, or the record of a
// Begin.
func (c *TwoPhaseCommit) Close(ctx context.Context) error {
	c.tasks.Cancel(ErrClosed)
	c.mu.Lock()
	present := slices.Clone(c.present)
	c.present = nil
	c.mu.Unlock()
	for _, own := range present {
		c.tasks.CleanUp(nil, own.Remove)
	}
	return c.tasks.Close(ctx)
}

// The children of a transaction's node.
const (
	votePrefix   = "vote-"
	alivePrefix  = "alive-"
	donePrefix   = "done-"
	decisionName = "decision"
)

// The data of votes and decisions; the reason follows an abort.
const (
	yesVote   = "yes"
	noVote    = "no"
	committed = "commit"
	aborted   = "abort"
)

// encode checks a transaction, and returns the data of its node.
func (tx Transaction) encode() ([]byte, error) {
	if len(tx.Sites) == 0 {
		return nil, errors.New("no sites; expected one at least")
	}
	for i, site := range tx.Sites {
		if err := checkName("site", site); err != nil {
			return nil, err
		}
		if slices.Contains(tx.Sites[:i], site) {
			return nil, fmt.Errorf("site %q: named twice", site)
		}
	}
	data, err := json.Marshal(tx)
	if err != nil {
		return nil, fmt.Errorf("encode transaction: %w", err)
	}
	return data, nil
}

// begin creates the node together with a record. The record keeps a repetition after a lost reply
// from beginning the transaction again after it was decided and forgotten.
func (c *TwoPhaseCommit) begin(r *request.Sender, t *task.Task[struct{}], data []byte) error {
	w, err := request.NewOnceOnlyChange(request.Parent(c.tasks.Path), "begin-")
	if err != nil {
		return err
	}
	for {
		err = w.Apply(r, &zk.CreateRequest{Path: c.tasks.Path, Data: data, Acl: r.Opts.ACL})
		if !errors.Is(err, zk.ErrNoNode) {
			break
		}
		if err = r.EnsureDir(request.Parent(c.tasks.Path)); err != nil {
			break
		}
	}
	if errors.Is(err, zk.ErrNodeExists) {
		err = ErrTransactionExists
	}
	_, err = task.EndChange(c.tasks, r, t, w, struct{}{}, err)
	return err
}

// read reads the transaction's node, as it is at some moment of the call.
func (c *TwoPhaseCommit) read(r *request.Sender) (tx Transaction, err error) {
	found := false
	err = r.Fresh(c.tasks.Path, func() (err error) {
		tx, found, err = c.readLocal(r)
		return err
	})
	if err == nil && !found {
		err = ErrNoTransaction
	}
	return tx, err
}

// readLocal is read without Confirm: the client's server may lag behind.
func (c *TwoPhaseCommit) readLocal(r *request.Sender) (tx Transaction, found bool, err error) {
	data, _, err := r.Get(c.tasks.Path)
	if err != nil {
		return tx, false, request.Ignore(err, zk.ErrNoNode)
	}
	if err := json.Unmarshal(data, &tx); err != nil || len(tx.Sites) == 0 {
		return tx, false, fmt.Errorf(
			"the data is %.40q; expected a transaction with sites as JSON", data,
		)
	}
	return tx, true, nil
}

// admit checks that a site is in the transaction.
func (c *TwoPhaseCommit) admit(r *request.Sender, site string) error {
	tx, err := c.read(r)
	if err == nil && !slices.Contains(tx.Sites, site) {
		err = fmt.Errorf("%w: %q is none of %s", ErrNotASite, site, strings.Join(tx.Sites, ", "))
	}
	return err
}

// join creates the presence of a site. If the caller has left meanwhile, join removes the presence.
func (c *TwoPhaseCommit) join(r *request.Sender, t *task.Task[struct{}], site string) error {
	if err := c.admit(r, site); err != nil {
		return err
	}
	own := &request.NamedEphemeral{Path: request.Join(c.tasks.Path, alivePrefix+site)}
	err := c.createOwn(r, own)
	if err == nil && task.Keep(c.tasks, &c.mu, t, struct{}{}, func() {
		c.present = append(c.present, own)
	}) {
		return nil
	}
	if err == nil {
		err = c.tasks.Cause(r.Ctx)
	}
	return request.GiveBack(r, err, own.Remove)
}

// createOwn creates own. The same transaction deletes the node of an earlier session, so that no
// client sees the site gone. createOwn creates no parents.
func (c *TwoPhaseCommit) createOwn(r *request.Sender, own *request.NamedEphemeral) error {
	for {
		if err := r.Confirm(own.Path); err != nil {
			return err
		}
		own.Epoch = r.Epoch()
		stat, err := r.Exists(own.Path)
		if err != nil {
			return err
		}
		if stat != nil && own.Epoch.Owns(stat) {
			own.Doubtful = true // to be removed
			return nil
		}
		var ops []interface{}
		if stat != nil {
			ops = append(ops, &zk.DeleteRequest{Path: own.Path, Version: stat.Version})
		}
		ops = append(ops, &zk.CreateRequest{
			Path: own.Path, Flags: zk.FlagEphemeral, Acl: r.Opts.ACL,
		})
		if err := r.Over(); err != nil {
			return err
		}
		_, err = r.Multi(ops...)
		own.Doubtful = own.Doubtful || OutcomeOf(err) != NotApplied
		switch {
		case err == nil, request.IsConflict(err) && (stat != nil || !errors.Is(err, zk.ErrNoNode)):
			// find out the owner
		case errors.Is(err, zk.ErrNoNode):
			return ErrNoTransaction
		case request.Transient(err):
			if err := r.Again(err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// vote creates the vote, once. If the same vote is there already, an earlier request may have
// created it.
func (c *TwoPhaseCommit) vote(r *request.Sender, site string, yes bool) error {
	if err := c.admit(r, site); err != nil {
		return err
	}
	vote := noVote
	if yes {
		vote = yesVote
	}
	path, doubtful := request.Join(c.tasks.Path, votePrefix+site), false
	err := r.Repeat(func() error {
		_, err := r.Conn.Create(path, []byte(vote), 0, r.Opts.ACL)
		doubtful = doubtful || OutcomeOf(err) == Unknown
		return err
	})
	if errors.Is(err, zk.ErrNodeExists) {
		var stored []byte
		stored, _, err = r.Get(path)
		if err == nil && string(stored) != vote {
			return fmt.Errorf("%w: %s", ErrVoted, stored)
		}
	}
	if errors.Is(err, zk.ErrNoNode) {
		err = ErrNoTransaction
	}
	return request.AmbiguousIf(doubtful, err)
}

// done creates the done node, if there is a decision.
func (c *TwoPhaseCommit) done(r *request.Sender, site string) error {
	err := c.admit(r, site)
	if errors.Is(err, ErrNoTransaction) {
		return nil
	}
	if err != nil {
		return err
	}
	ops := []interface{}{
		&zk.CheckVersionRequest{Path: request.Join(c.tasks.Path, decisionName), Version: 0},
		&zk.CreateRequest{Path: request.Join(c.tasks.Path, donePrefix+site), Acl: r.Opts.ACL},
	}
	doubtful := false
	err = r.Repeat(func() error {
		_, _, err := r.Transaction(ops)
		doubtful = doubtful || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case errors.Is(err, zk.ErrNoNode):
		if _, err = c.read(r); err == nil {
			return ErrUndecided
		}
		if errors.Is(err, ErrNoTransaction) {
			return nil
		}
	}
	return request.AmbiguousIf(doubtful, err)
}
