package gallery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedCommits = []Exhibit{
	planted("sets the decision", safety, commitOf(commit{setsDecision: true})),
	planted("counts votes, whatever they say", safety, commitOf(commit{countsVotes: true})),
	planted("commits with a majority", safety, commitOf(commit{majority: true})),
	planted("aborts before the deadline", safety, commitOf(commit{abortMargin: time.Second})),
	planted("knows no deadline", liveness, commitOf(commit{noDeadline: true})),
	planted("waits for one to decide", liveness, commitOf(commit{oneDecides: true})),
	planted("presumes that it has decided", answers, commitOf(commit{assumesDecision: true})),
	planted("does not ask what others have decided", answers, commitOf(commit{deaf: true})),
	planted("works it out for itself", answers, commitOf(commit{infersDecision: true})),
	planted("takes an error for no transaction", answers, commitOf(commit{blindToNode: true})),
	planted("acknowledges a lost vote", delivery, commitOf(commit{ackLostVote: true})),
	planted("takes its vote back", safety, commitOf(commit{withdrawsVote: true})),
	planted("writes over its vote", safety, commitOf(commit{setsVote: true})),
	planted("begins again", safety, commitOf(commit{blindBegin: true})),
	planted("forgets before all have finished", safety, commitOf(commit{forgetsEarly: true})),
	planted("forgets node by node", safety, commitOf(commit{forgetsByOne: true})),
	planted("says that it has forgotten", delivery, commitOf(commit{neverForgets: true})),
	planted("never forgets", orphans, commitOf(commit{alwaysLater: true})),
}

// commit is the two-phase commit of package recipes with an Await of its own. It is right without
// the flags.
type commit struct {
	*recipes.TwoPhaseCommit
	conn  *zk.Conn
	path  string
	began bool

	setsDecision    bool          // writes over the decision of others
	countsVotes     bool          // takes every vote for yes
	majority        bool          // is enough
	abortMargin     time.Duration // aborts so much before the deadline
	noDeadline      bool
	oneDecides      bool // the client that has begun it; others wait for that
	assumesDecision bool // takes its decision for stored if the reply is lost
	deaf            bool // to the decision of others
	infersDecision  bool // from the votes, and stores none, as in the guide
	blindToNode     bool // takes any error for a transaction that is gone

	ackLostVote   bool // says that it has voted when the connection died
	withdrawsVote bool // when its caller leaves
	setsVote      bool // creates it as no, and writes yes over that
	blindBegin    bool // begins again when the reply is lost
	forgetsEarly  bool // before others have finished
	forgetsByOne  bool // node by node
	neverForgets  bool // but says so
	alwaysLater   bool // never forgets
}

func commitOf(bad commit) scenario.Workload {
	return object.TwoPhase(func(env object.Env) object.TwoPhaser {
		c := bad
		c.conn, c.path = env.Conn, env.Path
		c.TwoPhaseCommit = recipes.NewTwoPhaseCommit(c.conn, c.path)
		return builtin.TwoPhaser(&c)
	}, object.TwoPhaseClaims{Definite: true})
}

func (c *commit) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	tx := recipes.Transaction{Sites: sites, Deadline: deadline}
	c.began = true
	if !c.blindBegin {
		return c.TwoPhaseCommit.Begin(ctx, tx)
	}
	until := deadline.Format(time.RFC3339Nano)
	data := fmt.Appendf(nil, `{"sites":["a","b","c"],"deadline":%q}`, until)
	for ctx.Err() == nil {
		c.conn.Create("/transactions", nil, 0, acl)
		if _, err := c.conn.Create(c.path, data, 0, acl); ignore(err, zk.ErrNodeExists) == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

func (c *commit) Vote(ctx context.Context, site string, yes bool) error {
	node := c.path + "/vote-" + site
	switch {
	case c.ackLostVote:
		data := map[bool]string{true: "yes", false: "no"}[yes]
		_, err := c.conn.Create(node, []byte(data), 0, acl)
		if errors.Is(err, zk.ErrNoNode) {
			return recipes.ErrNoTransaction
		}
		return ignore(ignore(err, zk.ErrConnectionClosed), zk.ErrNodeExists)
	case c.setsVote && yes:
		if err := ignore(c.TwoPhaseCommit.Vote(ctx, site, false), recipes.ErrVoted); err != nil {
			return err
		}
		_, err := c.conn.Set(node, []byte("yes"), -1)
		return err
	}
	err := c.TwoPhaseCommit.Vote(ctx, site, yes)
	if c.withdrawsVote && ctx.Err() != nil {
		c.conn.Delete(node, -1)
	}
	return err
}

func (c *commit) Await(ctx context.Context) (commit bool, err error) {
	if c.blindBegin { // the Await below is too slow to show it
		d, err := c.TwoPhaseCommit.Await(ctx)
		return d.Commit, err
	}
	tx, err := c.Read(ctx)
	if err != nil {
		return false, err
	}
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		there, _, err := c.conn.Exists(c.path)
		if err == nil && !there || err != nil && c.blindToNode {
			return false, recipes.ErrNoTransaction
		}
		if err != nil {
			continue
		}
		if commit, decided := c.look(tx); decided {
			return commit, nil
		}
	}
	return false, ctx.Err()
}

// look decides, or learns the decision.
func (c *commit) look(tx recipes.Transaction) (commit, decided bool) {
	if commit, decided = c.stored(); decided && !c.setsDecision && !c.deaf && !c.infersDecision {
		return commit, decided
	}
	voted, yes, err := c.votes(tx)
	if err != nil {
		return false, false
	}
	enough := len(tx.Sites)
	if c.majority {
		enough = enough/2 + 1
	}
	commit = yes >= enough || c.countsVotes && voted == enough
	late := !c.noDeadline && !time.Now().Before(tx.Deadline.Add(-c.abortMargin))
	switch {
	case !commit && yes == voted && !late, c.oneDecides && !c.began:
		return false, false
	case c.infersDecision:
		return commit, true
	}
	return c.decide(commit)
}

// stored reads the decision.
func (c *commit) stored() (commit, there bool) {
	data, _, err := c.conn.Get(c.path + "/decision")
	return string(data) == "commit", err == nil
}

// votes counts them.
func (c *commit) votes(tx recipes.Transaction) (voted, yes int, err error) {
	for _, site := range tx.Sites {
		data, _, err := c.conn.Get(c.path + "/vote-" + site)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return 0, 0, err
		}
		if err == nil {
			voted++
		}
		if string(data) == "yes" {
			yes++
		}
	}
	return voted, yes, nil
}

// decide writes the decision.
func (c *commit) decide(commit bool) (bool, bool) {
	data := map[bool]string{true: "commit", false: "abort it"}[commit]
	_, err := c.conn.Create(c.path+"/decision", []byte(data), 0, acl)
	switch {
	case err == nil:
		return commit, true
	case errors.Is(err, zk.ErrNodeExists) && c.setsDecision:
		_, err = c.conn.Set(c.path+"/decision", []byte(data), -1)
		return commit, err == nil
	case errors.Is(err, zk.ErrNodeExists) && c.deaf,
		errors.Is(err, zk.ErrConnectionClosed) && c.assumesDecision:
		return commit, true
	}
	return c.stored()
}

func (c *commit) Forget(ctx context.Context) error {
	switch {
	case c.neverForgets:
		return nil
	case c.alwaysLater:
		return recipes.ErrUnfinished
	case !c.forgetsEarly && !c.forgetsByOne:
		return c.TwoPhaseCommit.Forget(ctx)
	}
	names, _, err := c.conn.Children(c.path)
	var ops []interface{}
	for _, name := range names {
		ops = append(ops, &zk.DeleteRequest{Path: c.path + "/" + name, Version: -1})
	}
	ops = append(ops, &zk.DeleteRequest{Path: c.path, Version: -1})
	if c.forgetsEarly && err == nil {
		_, err = c.conn.Multi(ops...)
	}
	for n := 0; n < len(ops) && err == nil && c.forgetsByOne; n++ {
		_, err = c.conn.Multi(ops[n])
	}
	return ignore(err, zk.ErrNoNode)
}
