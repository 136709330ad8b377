package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/internal/spelling"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/barrier"
	"github.com/zksim/zksim/linearizability/cache"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/member"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
	"github.com/zksim/zksim/linearizability/twophase"
	"github.com/zksim/zksim/linearizability/value"
)

// claims are those of a judge.
type claims = linearizability.Claims

// A kind is a kind of object that zksim check knows.
type kind struct {
	name string
	// calls are the operations of the kind, in package ops.
	calls []string
	// claims returns the claims, with the flags of the command.
	claims func(c *Command) claims
	// needsServer says that nothing can be judged without the server's side.
	needsServer bool
	// fences says that the grants of the kind have fencing tokens.
	fences bool
	// meets says that a promise of the kind is about who is there at a moment. Longer calls may
	// break it.
	meets bool
}

// kinds are the kinds, by the names of zksim list. That list has no register.
var kinds = []kind{
	{
		name: "lock", calls: lockCalls, fences: true,
		claims: func(c *Command) claims { return c.lock() },
	},
	{
		name: "reentrant", calls: lockCalls, fences: true,
		claims: func(c *Command) claims { return lock.Reentrant(c.lock()) },
	},
	{
		name: "rwlock", calls: lockCalls, fences: true,
		claims: func(c *Command) claims { return lock.ReadWrite(c.lock()) },
	},
	{
		name: "semaphore", calls: []string{ops.Acquire, ops.Release, ops.Use, ops.Close},
		claims: func(c *Command) claims {
			return lock.Semaphore{Leases: c.Leases,
				Claims: c.lock()}
		},
	},
	{
		name: "revocable", fences: true, calls: append([]string{ops.Hold}, lockCalls...),
		claims: func(c *Command) claims {
			return lock.Revocable{Claims: c.lock(),
				Within: c.Within}
		},
	},
	{
		name: "election", fences: true,
		calls:  []string{ops.Lead, ops.Resign, ops.Leader, ops.Use, ops.Close},
		claims: func(c *Command) claims { return lock.Election(c.lock()) },
	},
	{
		name: "queue", calls: queueCalls,
		claims: func(c *Command) claims { return c.queue() },
	},
	{
		name: "priority-queue", calls: queueCalls,
		claims: func(c *Command) claims { return queue.Priority(c.queue()) },
	},
	{
		name: "delay-queue", calls: queueCalls,
		claims: func(c *Command) claims { return queue.Delay(c.queue()) },
	},
	{
		name: "id-queue", calls: append([]string{ops.Discard}, queueCalls...),
		claims: func(c *Command) claims { return queue.WithIDs(c.queue()) },
	},
	{
		name: "lock-queue", calls: append([]string{ops.Ack, ops.Release}, queueCalls...),
		claims: func(c *Command) claims { return queue.Locked{Claims: c.queue(), Lock: lockOf} },
	},
	{
		name: "counter", calls: []string{ops.Add, ops.Get, ops.Close},
		claims: func(c *Command) claims { return value.Counter{Path: c.Path} },
	},
	{
		name: "value", calls: []string{ops.Read, ops.Write, ops.CAS, ops.Remove, ops.Close},
		claims: func(c *Command) claims { return value.Claims{Path: c.Path} },
	},
	{
		name: "register", calls: []string{ops.Read, ops.Write, ops.CAS}, claims: register,
	},
	{
		name: "id-generator", calls: []string{ops.Next, ops.Close},
		claims: func(c *Command) claims { return value.IDGenerator{Path: c.Path} },
	},
	{
		name: "barrier", meets: true,
		calls:  []string{ops.Set, ops.Remove, ops.Wait, ops.IsSet, ops.Close},
		claims: func(c *Command) claims { return barrier.Claims{Path: c.Path} },
	},
	{
		name: "double-barrier", meets: true, calls: []string{ops.Enter, ops.Leave, ops.Close},
		claims: func(c *Command) claims { return barrier.Double{Path: c.Path} },
	},
	{
		name: "threshold-barrier", meets: true, calls: []string{ops.Set, ops.Wait, ops.Close},
		claims: func(c *Command) claims { return barrier.Threshold{Path: c.Path} },
	},
	{
		name: "two-phase-commit", meets: true,
		calls:  []string{ops.Begin, ops.Vote, ops.Await, ops.Done, ops.Forget, ops.Close},
		claims: func(c *Command) claims { return twophase.Claims{Path: c.Path} },
	},
	{
		name: "cache", needsServer: true,
		calls: []string{ops.Ready, ops.Look, ops.Settle, ops.Close},
		claims: func(c *Command) claims {
			return cache.Claims{Path: c.Path, Levels: -1,
				Patience: c.Within}
		},
	},
	{
		name: "membership", calls: memberCalls, needsServer: true,
		claims: func(c *Command) claims { return member.Claims{Path: c.Path, Within: c.Within} },
	},
	{
		name: "registry", calls: memberCalls, needsServer: true,
		claims: func(c *Command) claims {
			return member.Claims{Path: c.Path, Within: c.Within,
				Services: true}
		},
	},
}

var (
	lockCalls   = []string{ops.Lock, ops.Unlock, ops.Use, ops.Close}
	queueCalls  = []string{ops.Offer, ops.Poll, ops.Take, ops.Peek, ops.Close}
	memberCalls = []string{
		ops.Join, ops.Update, ops.Leave, ops.Evict, ops.Spoil, ops.View, ops.Pick, ops.Close,
	}
)

// Kinds are the names of the kinds of objects that the command judges.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// findKind returns the kind of a name.
func findKind(name string) (kind, error) {
	i := slices.Index(Kinds(), name)
	if i < 0 && strings.Contains(name, ".") {
		return kind{}, fmt.Errorf("%s is no kind of object; expected one of %s, and the files behind it",
			name, strings.Join(Kinds(), ", "))
	}
	if i < 0 {
		return kind{}, fmt.Errorf("unknown kind of object %q%s; expected one of %s", name,
			spelling.Meant(name, Kinds()), strings.Join(Kinds(), ", "))
	}
	return kinds[i], nil
}

// lockOf is the lock of an element of a lock-queue, below the same directory.
func lockOf(item string) string { return item + "-lock" }

func (c *Command) lock() lock.Claims { return lock.Claims{Path: c.Path} }

func (c *Command) queue() queue.Claims {
	return queue.Claims{Path: c.Path, Items: c.Items, Unordered: c.Unordered}
}
