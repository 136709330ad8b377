package cli

import (
	"fmt"
	"strings"

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

// checkedKind is a kind of object that zksim check knows.
type checkedKind struct {
	name string
	// calls are the operations of the kind, in package ops.
	calls []string
	// claims returns the claims, with the flags of the command.
	claims func(c *checkCommand) linearizability.Claims
	// needsServer says that nothing can be judged without the server's side.
	needsServer bool
	// fences says that the grants of the kind have fencing tokens.
	fences bool
}

// checkedKinds are the kinds, by the names of zksim list; register is one more.
var checkedKinds = []checkedKind{
	{
		name: "lock", calls: lockCalls, fences: true,
		claims: func(c *checkCommand) linearizability.Claims {
			return c.lock()
		},
	},
	{
		name: "reentrant", calls: lockCalls, fences: true,
		claims: func(c *checkCommand) linearizability.Claims {
			return lock.Reentrant(c.lock())
		},
	},
	{
		name: "rwlock", calls: lockCalls, fences: true,
		claims: func(c *checkCommand) linearizability.Claims {
			return lock.ReadWrite(c.lock())
		},
	},
	{
		name: "semaphore", calls: []string{ops.Acquire, ops.Release, ops.Use, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return lock.Semaphore{Leases: c.Leases, Claims: c.lock()}
		},
	},
	{
		name: "revocable", fences: true, calls: append([]string{ops.Hold}, lockCalls...),
		claims: func(c *checkCommand) linearizability.Claims {
			return lock.Revocable{Claims: c.lock(), Within: c.Within}
		},
	},
	{
		name: "election", fences: true,
		calls: []string{ops.Lead, ops.Resign, ops.Leader, ops.Use, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return lock.Election(c.lock())
		},
	},
	{
		name: "queue", calls: queueCalls,
		claims: func(c *checkCommand) linearizability.Claims {
			return c.queue()
		},
	},
	{
		name: "priority-queue", calls: queueCalls,
		claims: func(c *checkCommand) linearizability.Claims {
			return queue.Priority(c.queue())
		},
	},
	{
		name: "delay-queue", calls: queueCalls,
		claims: func(c *checkCommand) linearizability.Claims {
			return queue.Delay(c.queue())
		},
	},
	{
		name: "id-queue", calls: append([]string{ops.Discard}, queueCalls...),
		claims: func(c *checkCommand) linearizability.Claims {
			return queue.WithIDs(c.queue())
		},
	},
	{
		name: "lock-queue", calls: append([]string{ops.Ack, ops.Release}, queueCalls...),
		claims: func(c *checkCommand) linearizability.Claims {
			return queue.Locked{
				Claims: c.queue(), Lock: func(item string) string { return item + "-lock" },
			}
		},
	},
	{
		name: "counter", calls: []string{ops.Add, ops.Get, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return value.Counter{Path: c.Path}
		},
	},
	{
		name: "value", calls: []string{ops.Read, ops.Write, ops.CAS, ops.Remove, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return value.Claims{Path: c.Path}
		},
	},
	{
		name: "register", calls: []string{ops.Read, ops.Write, ops.CAS}, claims: register,
	},
	{
		name: "id-generator", calls: []string{ops.Next, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return value.IDGenerator{Path: c.Path}
		},
	},
	{
		name: "barrier", calls: []string{ops.Set, ops.Remove, ops.Wait, ops.IsSet, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return barrier.Claims{Path: c.Path}
		},
	},
	{
		name: "double-barrier", calls: []string{ops.Enter, ops.Leave, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return barrier.Double{Path: c.Path}
		},
	},
	{
		name: "threshold-barrier", calls: []string{ops.Set, ops.Wait, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return barrier.Threshold{Path: c.Path}
		},
	},
	{
		name: "two-phase-commit",
		calls: []string{
			ops.Begin, ops.Vote, ops.Await, ops.Done, ops.Forget, ops.Close,
		},
		claims: func(c *checkCommand) linearizability.Claims {
			return twophase.Claims{Path: c.Path}
		},
	},
	{
		name: "cache", needsServer: true,
		calls: []string{ops.Ready, ops.Look, ops.Settle, ops.Close},
		claims: func(c *checkCommand) linearizability.Claims {
			return cache.Claims{Path: c.Path, Levels: -1, Patience: c.Within}
		},
	},
	{
		name: "membership", calls: memberCalls, needsServer: true,
		claims: func(c *checkCommand) linearizability.Claims {
			return member.Claims{Path: c.Path, Within: c.Within}
		},
	},
	{
		name: "registry", calls: memberCalls, needsServer: true,
		claims: func(c *checkCommand) linearizability.Claims {
			return member.Claims{Path: c.Path, Within: c.Within, Services: true}
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

// findKind returns the kind of a name.
func findKind(name string) (checkedKind, error) {
	var names []string
	for _, k := range checkedKinds {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return checkedKind{}, fmt.Errorf("kind of object %q; expected %s", name,
		strings.Join(names, ", "))
}

func (c *checkCommand) lock() lock.Claims { return lock.Claims{Path: c.Path} }

func (c *checkCommand) queue() queue.Claims {
	return queue.Claims{Path: c.Path, Items: c.Items, Unordered: c.Unordered}
}
