package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// meaning says what a violation means from now on, for a reader who does not know ZooKeeper. It is
// "" if nothing is violated.
func meaning(o *scenario.Outcome) string {
	switch property := o.Property(); property {
	case linearizability.Liveness:
		return stuckMeaning(o)
	case linearizability.Orphans:
		return orphanMeaning(o)
	case linearizability.Delivery:
		return deliveryMeaning(o.Report)
	case linearizability.Belief:
		return beliefMeaning(o)
	case linearizability.Safety:
		return safetyMeaning(o)
	default:
		return meanings[property]
	}
}

// meanings are those of properties that need no more words in any run.
var meanings = map[string]string{
	linearizability.Fencing: "A store that checks the tokens of its writers may take a write of " +
		"an old holder, or refuse the holder of today.",
	linearizability.Linearizability: "A caller was told what was not true at any moment of its " +
		"call. Code that acts on the answer is wrong, and no error tells it.",
	linearizability.Order: "A client that came later was served first.",
	linearizability.Answers: "A caller was told what was not so at any moment of its call, and no " +
		"error tells it.",
	linearizability.Presence: "Others see an instance that has left, or do not see one that is there.",
	linearizability.View: "A reader was shown a state that never was, or an older state after a " +
		"newer one.",
	linearizability.Herd: "Each release wakes many waiters, which all ask the server at once. With " +
		"more clients it gets slower for all.",
	scenario.InvariantProperty: "What the test says of every moment was not so at one.",
	"property":                 "What the test expects of the service was not so.",
	"panic":                    "The process of the client ends, with all that it does.",
	"frozen":                   "The goroutine never goes on, and all that wait for it wait with it.",
}

// stuckMeaning is the meaning of a violated liveness: who waits for whom, or for what.
func stuckMeaning(o *scenario.Outcome) string {
	who, lock := waiting(o)
	if who == "" {
		return "A call does not do in time what it is there for, although no fault hinders it."
	}
	waits := who + " in vain"
	if lock {
		waits = "no client gets this lock"
	}
	switch node, owner := blame(o); {
	case node == "":
		return "From now on " + who + " in vain: the faults are over, and still nothing lets it go on."
	case owner != "":
		return fmt.Sprintf("From now on %s until %s's session ends.", waits, owner)
	case lock:
		return fmt.Sprintf("From now on %s until somebody deletes %s by hand.", waits, node)
	default:
		return fmt.Sprintf("From now on %s until somebody removes %s by hand.", waits, node)
	}
}

// waiting are the clients with calls that never returned, and their verb. lock says that they wait
// for one lock, which has one holder at a time.
func waiting(o *scenario.Outcome) (who string, lock bool) {
	var names []string
	lock = o.Scenario.Workload.Name == "lock"
	for _, op := range o.History.Ops {
		if op.Outcome != linearizability.OpPending {
			continue
		}
		lock = lock && op.Kind == o.Scenario.Workload.Name
		if !slices.Contains(names, op.Client) {
			names = append(names, op.Client)
		}
	}
	slices.Sort(names)
	switch n := len(names); n {
	case 0:
		return "", false
	case 1:
		return names[0] + " waits", lock
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " wait", lock
	}
}

// blame is the znode to blame, as it is at rest, and the client of the session that owns it. The
// client is "" if the znode belongs to none, or if its owner has no name.
func blame(o *scenario.Outcome) (path, owner string) {
	for _, v := range o.Report.Verdicts {
		if v.Property != o.Property() || v.Znode == "" {
			continue
		}
		for _, n := range o.Result.Nodes {
			if n.Path == v.Znode {
				return o.Result.Trace.Rename(n.Path), o.Result.SessionClient[n.Owner]
			}
		}
	}
	return "", ""
}

func orphanMeaning(o *scenario.Outcome) string {
	switch node, owner := blame(o); {
	case owner != "":
		return fmt.Sprintf("%s stays until %s's session ends, and nobody needs it.", node, owner)
	case node != "":
		return node + " stays until somebody deletes it by hand. Each time adds one more."
	}
	return "Something is left that nobody needs and nobody removes. Each time adds one more."
}

func deliveryMeaning(r linearizability.Report) string {
	switch {
	case len(r.Lost) > 0:
		return r.Lost[0] + " is gone: nobody will ever work on it."
	case len(r.Duplicated) > 0:
		return r.Duplicated[0] + " is worked on twice."
	}
	return "What a caller wrote was not written, or was written twice, and no error tells it."
}

func safetyMeaning(o *scenario.Outcome) string {
	if !hasOwner(o) {
		return "A client goes on too early: what it relies on is not so."
	}
	return "Two clients can act as the owner at once. What one of them writes may be lost without " +
		"an error."
}

func beliefMeaning(o *scenario.Outcome) string {
	if !hasOwner(o) {
		return "A client takes old data for new, and no error tells it."
	}
	return "A client goes on as the owner of what another client may have by now, and nothing tells " +
		"it to stop."
}

// hasOwner reports whether the object is one that clients own, such as a lock.
func hasOwner(o *scenario.Outcome) bool {
	return len(o.Report.Holds) > 0 ||
		slices.ContainsFunc(o.History.Ops, func(op linearizability.Op) bool {
			return slices.Contains([]string{"lock", "acquire", "lead", "hold"}, op.Kind)
		})
}
