package linearizability

import (
	"io"

	"github.com/zksim/zksim/model"
)

// lockKind is what tells one kind of lock from another: the judge of holds knows
// no more about it. Whatever clients hold for a while and lose with their session
// can be judged as one: a lock, a lease, a leadership.
type lockKind struct {
	noun   string // what is held: "lock"
	object string // what the model is of: "read-write lock"
	// acquire and release are the kinds of the operations.
	acquire, release string
	// capacity is how many may hold it at once of those that conflict.
	capacity int
	// conflict reports whether the two may not hold it at once if there is but
	// one place; nil means that any two may not.
	conflict func(a, b Op) bool
	// shared reports whether the model is to be asked for a shared hold.
	shared func(op Op) bool
	// named: operations with different inputs are about different holds of their
	// client.
	named bool
	// counted: two holds of one client are two, and not one that was acquired again.
	counted bool
	// reentrant: a hold that is acquired again has to be released as often.
	reentrant bool
	// ahead: clients compete between calls, too, so that a call may tell of what was
	// granted before it.
	ahead bool
	model lockModel
}

// lockModel is a sequential model of a kind of lock.
type lockModel struct {
	judge func(events []event[model.LockOp], object string) Verdict
	draw  func(events []event[model.LockOp]) func(io.Writer) error
}

func newLockModel[S comparable](o object[S, model.LockOp]) lockModel {
	return lockModel{
		judge: func(events []event[model.LockOp], noun string) Verdict { return judge(o, events, noun, patience) },
		draw:  func(events []event[model.LockOp]) func(io.Writer) error { return drawer(o, events) },
	}
}

var mutex = lockKind{
	noun: "lock", object: "lock", acquire: KindLock, release: KindUnlock, capacity: 1,
	model: newLockModel(lockObject),
}

// place tells the holds of one client apart.
func (k lockKind) place(op Op) string {
	if k.named {
		return op.Input
	}
	return ""
}

func (k lockKind) isShared(op Op) bool { return k.shared != nil && k.shared(op) }

func (k lockKind) conflicts(a, b Op) bool { return k.conflict == nil || k.conflict(a, b) }

// judgeHolds judges all that can be said of a lock of any kind.
func (c *lockCase) judgeHolds(rest *Leftovers) Report {
	events := c.lockEvents()
	r := Report{
		ZombieWindows: c.zombieWindows(),
		Waits:         c.waits(),
		draw:          c.kind.model.draw(events),
	}
	r.MaxHerd, r.MaxHerdStep = c.herd()
	r.Verdicts = append(r.Verdicts, c.judgeSafety(), c.judgeBelief())
	if c.hasTokens() && c.kind.capacity == 1 {
		r.Verdicts = append(r.Verdicts, c.judgeFencing())
	}
	r.Verdicts = append(r.Verdicts, c.kind.model.judge(events, c.kind.object))
	if c.opts.Fair {
		r.Verdicts = append(r.Verdicts, c.judgeFairness())
	}
	r.Verdicts = append(r.Verdicts, c.judgeLiveness(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, c.opts.AllowedAtRest, c.leftover(rest), c.mayWatch))
	}
	if c.opts.MaxHerd > 0 {
		r.Verdicts = append(r.Verdicts, judgeHerd(r, c.opts.MaxHerd))
	}
	return r
}
