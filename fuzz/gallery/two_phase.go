package gallery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedCommits = []Exhibit{
	{
		Title: "sets the decision", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{ownAwait: true, setsDecision: true}),
	},
	{
		Title: "counts votes, whatever they say", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{ownAwait: true, countsVotes: true}),
	},
	{
		Title: "commits with a majority", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{ownAwait: true, majority: true}),
	},
	{
		Title: "aborts before the deadline", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{ownAwait: true, hurry: time.Second}),
	},
	{
		Title: "knows no deadline", Property: linearizability.Liveness,
		Wrong: commitOf(commitDefects{ownAwait: true, noDeadline: true}),
	},
	{
		Title: "waits for one to decide", Property: linearizability.Liveness,
		Wrong: commitOf(commitDefects{ownAwait: true, oneDecides: true}),
	},
	{
		Title: "presumes that it has decided", Property: linearizability.Answers,
		Wrong: commitOf(commitDefects{ownAwait: true, presumes: true}),
	},
	{
		Title: "does not ask what others have decided", Property: linearizability.Answers,
		Wrong: commitOf(commitDefects{ownAwait: true, deaf: true}),
	},
	{
		Title: "works it out for itself", Property: linearizability.Answers,
		Wrong: commitOf(commitDefects{ownAwait: true, worksItOut: true}),
	},
	{
		Title: "takes an error for no transaction", Property: linearizability.Answers,
		Wrong: commitOf(commitDefects{ownAwait: true, blindToNode: true}),
	},
	{
		Title: "acknowledges a lost vote", Property: linearizability.Delivery,
		Wrong: commitOf(commitDefects{ackLostVote: true}),
	},
	{
		Title: "takes its vote back", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{takesBack: true}),
	},
	{
		Title: "writes over its vote", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{setsVote: true}),
	},
	{
		Title: "begins again", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{blindBegin: true}),
	},
	{
		Title: "forgets before all have finished", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{forgetsEarly: true}),
	},
	{
		Title: "forgets node by node", Property: linearizability.Safety,
		Wrong: commitOf(commitDefects{forgetsByOne: true}),
	},
	{
		Title: "says that it has forgotten", Property: linearizability.Delivery,
		Wrong: commitOf(commitDefects{neverForgets: true}),
	},
	{
		Title: "never forgets", Property: linearizability.Orphans,
		Wrong: commitOf(commitDefects{alwaysLater: true}),
	},
}

// wrongCommit is the two-phase commit of package recipes with one thing done
// otherwise.
type wrongCommit struct {
	*recipes.TwoPhaseCommit
	conn *zk.Conn
	path string
	bad  commitDefects

	began bool
}

// commitDefects are what can be wrong with it. The first ones are in Await.
type commitDefects struct {
	ownAwait     bool          // none: an Await of its own
	setsDecision bool          // writes over the decision of others
	countsVotes  bool          // whatever they say
	majority     bool          // is enough
	hurry        time.Duration // aborts so much before the deadline
	noDeadline   bool
	oneDecides   bool // who has begun it; others wait for that
	presumes     bool // that its decision was taken, if the reply is lost
	deaf         bool // to the decision of others
	worksItOut   bool // and decides nothing, as in the guide
	blindToNode  bool // takes any error for a transaction that is gone

	ackLostVote  bool // says that it has voted when the connection died
	takesBack    bool // its vote when its caller leaves
	setsVote     bool // creates it as no, and writes yes over that
	blindBegin   bool // begins again when the reply is lost
	forgetsEarly bool // before others have finished
	forgetsByOne bool // node by node
	neverForgets bool // but says so
	alwaysLater  bool // never forgets
}

func (c *wrongCommit) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	tx := recipes.Transaction{Sites: sites, Deadline: deadline}
	c.began = true
	if !c.bad.blindBegin {
		return c.TwoPhaseCommit.Begin(ctx, tx)
	}
	data := fmt.Appendf(nil, `{"sites":["a","b","c"],"deadline":%q}`, deadline.Format(time.RFC3339Nano))
	for ctx.Err() == nil {
		c.conn.Create("/transactions", nil, 0, acl)
		if _, err := c.conn.Create(c.path, data, 0, acl); err == nil || errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

func (c *wrongCommit) Vote(ctx context.Context, site string, yes bool) error {
	node := c.path + "/vote-" + site
	switch {
	case c.bad.ackLostVote:
		data := map[bool]string{true: "yes", false: "no"}[yes]
		_, err := c.conn.Create(node, []byte(data), 0, acl)
		if errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		if errors.Is(err, zk.ErrNoNode) {
			return recipes.ErrNoTransaction
		}
		return err
	case c.bad.setsVote && yes:
		if err := c.TwoPhaseCommit.Vote(ctx, site, false); err != nil && !errors.Is(err, recipes.ErrVoted) {
			return err
		}
		_, err := c.conn.Set(node, []byte("yes"), -1)
		return err
	}
	err := c.TwoPhaseCommit.Vote(ctx, site, yes)
	if c.bad.takesBack && ctx.Err() != nil {
		c.conn.Delete(node, -1)
	}
	return err
}

func (c *wrongCommit) Await(ctx context.Context) (commit bool, err error) {
	if !c.bad.ownAwait {
		d, err := c.TwoPhaseCommit.Await(ctx)
		return d.Commit, err
	}
	tx, err := c.Read(ctx)
	if err != nil {
		return false, err
	}
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		there, _, err := c.conn.Exists(c.path)
		if err == nil && !there || err != nil && c.bad.blindToNode {
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

// look decides, or learns what was decided.
func (c *wrongCommit) look(tx recipes.Transaction) (commit, decided bool) {
	if commit, decided = c.stored(); decided && !c.bad.setsDecision && !c.bad.deaf && !c.bad.worksItOut {
		return commit, decided
	}
	voted, yes, err := c.votes(tx)
	if err != nil {
		return false, false
	}
	enough := len(tx.Sites)
	if c.bad.majority {
		enough = enough/2 + 1
	}
	commit = yes >= enough || c.bad.countsVotes && voted == enough
	late := !c.bad.noDeadline && !time.Now().Before(tx.Deadline.Add(-c.bad.hurry))
	switch {
	case !commit && yes == voted && !late, c.bad.oneDecides && !c.began:
		return false, false
	case c.bad.worksItOut:
		return commit, true
	}
	return c.decide(commit)
}

// stored reads the decision.
func (c *wrongCommit) stored() (commit, there bool) {
	data, _, err := c.conn.Get(c.path + "/decision")
	return string(data) == "commit", err == nil
}

// votes counts them.
func (c *wrongCommit) votes(tx recipes.Transaction) (voted, yes int, err error) {
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
func (c *wrongCommit) decide(commit bool) (bool, bool) {
	data := map[bool]string{true: "commit", false: "abort it"}[commit]
	_, err := c.conn.Create(c.path+"/decision", []byte(data), 0, acl)
	switch {
	case err == nil:
		return commit, true
	case errors.Is(err, zk.ErrNodeExists) && c.bad.setsDecision:
		_, err = c.conn.Set(c.path+"/decision", []byte(data), -1)
		return commit, err == nil
	case errors.Is(err, zk.ErrNodeExists) && c.bad.deaf, errors.Is(err, zk.ErrConnectionClosed) && c.bad.presumes:
		return commit, true
	}
	return c.stored()
}

func (c *wrongCommit) Forget(ctx context.Context) error {
	switch {
	case c.bad.neverForgets:
		return nil
	case c.bad.alwaysLater:
		return recipes.ErrUnfinished
	case !c.bad.forgetsEarly && !c.bad.forgetsByOne:
		return c.TwoPhaseCommit.Forget(ctx)
	}
	names, _, err := c.conn.Children(c.path)
	var ops []interface{}
	for _, name := range names {
		ops = append(ops, &zk.DeleteRequest{Path: c.path + "/" + name, Version: -1})
	}
	ops = append(ops, &zk.DeleteRequest{Path: c.path, Version: -1})
	if c.bad.forgetsEarly && err == nil {
		_, err = c.conn.Multi(ops...)
	}
	for n := 0; n < len(ops) && err == nil && c.bad.forgetsByOne; n++ {
		_, err = c.conn.Multi(ops[n])
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func commitOf(bad commitDefects) scenario.Workload {
	return object.TwoPhase(func(env object.Env) object.TwoPhaser {
		return &wrongCommit{TwoPhaseCommit: recipes.NewTwoPhaseCommit(env.Conn, env.Path), conn: env.Conn, path: env.Path, bad: bad}
	}).Named("")
}
