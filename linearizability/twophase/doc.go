// Package twophase judges two-phase commit: a transaction is committed at all its sites, or at
// none.
//
// A client begins a transaction and names its sites. Each site votes yes or no, awaits the
// decision, and reports that it has carried the decision out (done). In the end the transaction is
// forgotten. These are the calls of a history. The input begins with the name of the transaction,
// and the output of an await is the decision:
//
//	sites := []string{"a", "b"}
//	recorder.Call("a", ops.Begin, twophase.BeginInput("t1", sites, 0)).OK(linearizability.Result{})
//	recorder.Call("a", ops.Vote, "t1 a yes").OK(linearizability.Result{})
//	recorder.Call("a", ops.Await, "t1").OK(linearizability.Result{Output: ops.Commit})
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, twophase.Claims{Path: "/transactions"}))
//
// The properties, and how each is violated:
//
//	safety    a transaction is committed without the votes of all sites, or aborted without a
//	          reason; a vote or a decision changes; a commit is forgotten before all are done
//	answers   two awaits return different decisions, or another one than the server has
//	delivery  a call that succeeded had no effect, or a call that failed had one
//	liveness  a call waits for ever
//	orphans   at rest a znode, a session, a watch or a goroutine is left
//
// Safety and delivery need the events of the server. A reason to abort is a vote no, a deadline
// that has passed, or a site that is gone. The only claims are [Claims]. Its Read tells what the
// znodes of your recipe mean, unless they are those of recipes.TwoPhaseCommit.
package twophase
