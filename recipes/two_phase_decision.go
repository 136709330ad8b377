package recipes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// ballot is the state of a transaction as one Await has seen it.
type ballot struct {
	Transaction
	names   []string          // the children, as last listed
	votes   map[string]string // of the sites, by their names, as far as they were read
	present map[string]bool   // the sites that have been seen present
	watch   *request.Watch    // fired by the next change of the children
}

// await reads the transaction at once, after each change of its children and at its deadline, until
// it is decided.
func (c *TwoPhaseCommit) await(r *request.Sender) (d Decision, err error) {
	since := r.Epoch()
	tx, err := c.read(r)
	if err != nil {
		return d, err
	}
	b := &ballot{Transaction: tx, votes: map[string]string{}, present: map[string]bool{}}
	for {
		now := time.Now()
		// confirmed, so that a vote in time is seen although the server lagged behind
		if since.Check() != nil || b.isOver(now) {
			if since, err = r.Confirmed(c.tasks.Path); err != nil {
				return d, err
			}
		}
		d, decided, err := c.look(r, b, since, now)
		if errors.Is(err, request.ErrRestart) {
			continue
		}
		// a listed node is gone: look again
		if decided || err != nil && !errors.Is(err, zk.ErrNoNode) {
			return d, err
		}
		if err := b.watch.Wait(r.Ctx, shorterWait(r.Opts.Recheck, b.Deadline)); err != nil {
			return d, err
		}
	}
}

// look reads the changes, and decides if there is a reason. It returns request.ErrRestart if the
// session of since has ended: the server of the next session may lag behind.
func (c *TwoPhaseCommit) look(
	r *request.Sender, b *ballot, since request.Epoch, now time.Time,
) (d Decision, decided bool, err error) {
	b.names, b.watch, err = c.ballots.Children(r)
	switch {
	case since.Check() != nil:
		return d, false, request.ErrRestart
	case errors.Is(err, zk.ErrNoNode):
		return d, false, ErrNoTransaction
	case err != nil:
		return d, false, err
	case slices.Contains(b.names, decisionName):
		d, err = c.decision(r)
		return d, err == nil, err
	}
	if err := c.readVotes(r, b); err != nil {
		return d, false, err
	}
	d, reason := b.verdict(now)
	if !reason {
		return d, false, nil
	}
	return c.decide(r, b, d)
}

func (b *ballot) has(name string) bool { return slices.Contains(b.names, name) }

// verdict returns the decision, if there is a reason for one. It records the sites that are
// present.
func (b *ballot) verdict(now time.Time) (d Decision, reason bool) {
	var missing []string
	for _, site := range b.Sites {
		present := b.has(alivePrefix + site)
		switch {
		case b.votes[site] == noVote:
			return Decision{Why: site + " votes no"}, true
		case b.votes[site] == yesVote:
		case b.present[site] && !present:
			return Decision{Why: site + " has gone before it voted"}, true
		default:
			missing = append(missing, site)
		}
		b.present[site] = b.present[site] || present
	}
	switch {
	case len(missing) == 0:
		return Decision{Commit: true}, true
	case b.isOver(now):
		return Decision{Why: "no vote in time of " + strings.Join(missing, ", ")}, true
	}
	return Decision{}, false
}

// isOver reports whether the time for votes is over.
func (b *ballot) isOver(now time.Time) bool {
	return !b.Deadline.IsZero() && !now.Before(b.Deadline)
}

// readVotes reads the votes that were added since the last call.
func (c *TwoPhaseCommit) readVotes(r *request.Sender, b *ballot) error {
	for _, site := range b.Sites {
		if !b.has(votePrefix + site) {
			delete(b.votes, site) // it was deleted again
			continue
		}
		if b.votes[site] != "" {
			continue
		}
		data, _, err := r.Get(request.Join(c.tasks.Path, votePrefix+site))
		if err != nil {
			return err
		}
		if vote := string(data); vote != yesVote && vote != noVote {
			return fmt.Errorf("the vote of %s is %.40q; expected %s or %s", site, data,
				yesVote, noVote)
		}
		b.votes[site] = string(data)
	}
	return nil
}

// decide creates the decision, unless there is one, and returns the stored decision. A commit
// checks that all votes are there.
func (c *TwoPhaseCommit) decide(r *request.Sender, b *ballot, d Decision) (Decision, bool, error) {
	var ops []interface{}
	if d.Commit {
		for _, site := range b.Sites {
			ops = append(ops, &zk.CheckVersionRequest{
				Path: request.Join(c.tasks.Path, votePrefix+site), Version: 0,
			})
		}
	}
	ops = append(ops, &zk.CreateRequest{
		Path: request.Join(c.tasks.Path, decisionName), Data: d.encode(), Acl: r.Opts.ACL,
	})
	_, err := r.RepeatMulti(ops...)
	switch {
	case err == nil:
		return d, true, nil
	case errors.Is(err, zk.ErrNodeExists): // by an earlier request, or by another client
		d, err = c.decision(r)
		return d, err == nil, err
	}
	return Decision{}, false, err
}

// decision reads the decision.
func (c *TwoPhaseCommit) decision(r *request.Sender) (Decision, error) {
	data, _, err := r.Get(request.Join(c.tasks.Path, decisionName))
	if err != nil {
		return Decision{}, err
	}
	switch what, why, _ := strings.Cut(string(data), " "); what {
	case committed:
		return Decision{Commit: true}, nil
	case aborted:
		return Decision{Why: why}, nil
	}
	return Decision{}, fmt.Errorf("the decision is %.40q; expected %s or %s", data,
		committed, aborted)
}

// encode makes the data of the decision's node.
func (d Decision) encode() []byte {
	if d.Commit {
		return []byte(committed)
	}
	return []byte(aborted + " " + d.Why)
}

// forget deletes all nodes of the transaction, and lists again if the list was out of date.
func (c *TwoPhaseCommit) forget(r *request.Sender) error {
	doubtful := false
	var before []string
	for {
		names, err := c.leftovers(r)
		if errors.Is(err, zk.ErrNoNode) {
			continue // a listed node is gone: look again
		}
		if len(names) == 0 || err != nil {
			return request.AmbiguousIf(doubtful, err)
		}
		var ops []interface{}
		for _, path := range names {
			ops = append(ops, &zk.DeleteRequest{Path: path, Version: -1})
		}
		err = r.Repeat(func() error {
			_, _, err := r.Transaction(ops)
			doubtful = doubtful || OutcomeOf(err) == Unknown
			return err
		})
		changed := errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotEmpty)
		if !changed || slices.Equal(names, before) { // a child that has children
			return request.AmbiguousIf(doubtful, err)
		}
		before = names
	}
}

// leftovers returns the paths of all nodes of a transaction that may be forgotten, the children
// first. It returns none if the transaction is gone.
func (c *TwoPhaseCommit) leftovers(r *request.Sender) ([]string, error) {
	var b ballot
	found := false
	err := r.Fresh(c.tasks.Path, func() (err error) {
		b.Transaction, found, err = c.readLocal(r)
		if err != nil || !found {
			return err
		}
		b.names, err = r.Children(c.tasks.Path)
		found = err == nil
		return request.Ignore(err, zk.ErrNoNode)
	})
	if err != nil || !found {
		return nil, err
	}
	if err := c.mayForget(r, b); err != nil {
		return nil, err
	}
	slices.Sort(b.names)
	var paths []string
	for _, name := range b.names {
		paths = append(paths, request.Join(c.tasks.Path, name))
	}
	return append(paths, c.tasks.Path), nil
}

// mayForget returns an error if a transaction may not be forgotten yet.
func (c *TwoPhaseCommit) mayForget(r *request.Sender, b ballot) error {
	if !b.has(decisionName) {
		return ErrUndecided
	}
	d, err := c.decision(r)
	if err != nil || !d.Commit {
		return err
	}
	for _, site := range b.Sites {
		if !b.has(donePrefix + site) {
			return fmt.Errorf("%w: %s", ErrUnfinished, site)
		}
	}
	return nil
}
