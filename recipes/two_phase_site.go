package recipes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

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
func (c *TwoPhaseCommit) begin(
	ctx context.Context, r *request.Sender, t *task.Task[struct{}], data []byte,
) error {
	w, err := request.NewOnceOnlyChange(request.Parent(c.tasks.Path), "begin-")
	if err != nil {
		return err
	}
	for {
		err = w.Apply(ctx, r, &zk.CreateRequest{Path: c.tasks.Path, Data: data, Acl: r.Opts.ACL})
		if !errors.Is(err, zk.ErrNoNode) {
			break
		}
		if err = r.EnsureDir(ctx, request.Parent(c.tasks.Path)); err != nil {
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
func (c *TwoPhaseCommit) read(ctx context.Context, r *request.Sender) (tx Transaction, err error) {
	found := false
	err = r.Fresh(ctx, c.tasks.Path, func() (err error) {
		tx, found, err = c.readLocal(ctx, r)
		return err
	})
	if err == nil && !found {
		err = ErrNoTransaction
	}
	return tx, err
}

// readLocal is read without a sync: the client's server may lag behind.
func (c *TwoPhaseCommit) readLocal(
	ctx context.Context, r *request.Sender,
) (tx Transaction, found bool, err error) {
	data, _, err := r.Get(ctx, c.tasks.Path)
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
func (c *TwoPhaseCommit) admit(ctx context.Context, r *request.Sender, site string) error {
	tx, err := c.read(ctx, r)
	if err == nil && !slices.Contains(tx.Sites, site) {
		err = fmt.Errorf("%w: %q is none of %s", ErrNotASite, site, strings.Join(tx.Sites, ", "))
	}
	return err
}

// join creates the presence of a site. If the caller has left meanwhile, join removes the presence.
func (c *TwoPhaseCommit) join(
	ctx context.Context, r *request.Sender, t *task.Task[struct{}], site string,
) error {
	if err := c.admit(ctx, r, site); err != nil {
		return err
	}
	own := &request.NamedEphemeral{Path: request.Join(c.tasks.Path, alivePrefix+site)}
	err := c.createOwn(ctx, r, own)
	if err == nil && c.keep(t, own) {
		return nil
	}
	if err == nil {
		err = c.tasks.Cause(ctx)
	}
	return request.GiveBack(r, err, own.Remove)
}

// keep stores own for Close. It returns false if the caller has left or Close was called meanwhile.
func (c *TwoPhaseCommit) keep(t *task.Task[struct{}], own *request.NamedEphemeral) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks.Closed() || !t.Settle(struct{}{}) {
		return false
	}
	c.present = append(c.present, own)
	return true
}

// createOwn creates own. The same transaction deletes the node of an earlier session, so that no
// client sees the site gone. appear creates no parents.
func (c *TwoPhaseCommit) createOwn(
	ctx context.Context, r *request.Sender, own *request.NamedEphemeral,
) error {
	for {
		if err := r.Sync(ctx, own.Path); err != nil {
			return err
		}
		own.Epoch = r.Epoch()
		stat, err := r.Exists(ctx, own.Path)
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
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err = r.Multi(ops...)
		own.Doubtful = own.Doubtful || OutcomeOf(err) != NotApplied
		switch {
		case err == nil, request.IsConflict(err) && (stat != nil || !errors.Is(err, zk.ErrNoNode)):
			// find out the owner
		case errors.Is(err, zk.ErrNoNode):
			return ErrNoTransaction
		case request.Transient(err):
			if err := r.Again(ctx, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// vote creates the vote, once. If the same vote is there already, an earlier request may have
// created it.
func (c *TwoPhaseCommit) vote(ctx context.Context, r *request.Sender, site string, yes bool) error {
	if err := c.admit(ctx, r, site); err != nil {
		return err
	}
	vote := noVote
	if yes {
		vote = yesVote
	}
	path, doubtful := request.Join(c.tasks.Path, votePrefix+site), false
	err := r.Repeat(ctx, func() error {
		_, err := r.Conn.Create(path, []byte(vote), 0, r.Opts.ACL)
		doubtful = doubtful || OutcomeOf(err) == Unknown
		return err
	})
	if errors.Is(err, zk.ErrNodeExists) {
		var stored []byte
		stored, _, err = r.Get(ctx, path)
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
func (c *TwoPhaseCommit) done(ctx context.Context, r *request.Sender, site string) error {
	err := c.admit(ctx, r, site)
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
	err = r.Repeat(ctx, func() error {
		_, _, err := r.Transaction(ops)
		doubtful = doubtful || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case errors.Is(err, zk.ErrNoNode):
		if _, err = c.read(ctx, r); err == nil {
			return ErrUndecided
		}
		if errors.Is(err, ErrNoTransaction) {
			return nil
		}
	}
	return request.AmbiguousIf(doubtful, err)
}
