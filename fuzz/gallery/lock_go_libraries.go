package gallery

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// publishedLockGo are bugs of locks in public Go libraries, found by reading their source.
var publishedLockGo = []Exhibit{
	{Slug: "locked-without-label", Title: "the lock is taken, and its label cannot be written",
		Source: Code, Link: "https://github.com/kvtools/zookeeper/blob/b1635d5ab12ed2fa8238570bb61dc4db6a327f97/zookeeper.go#L615-L629",
		See: []string{"docker/libkv"},
		Bug: "Lock takes the client's lock, and then writes the caller's value into the " +
			"directory. When that write fails the caller gets the error, and the lock stays " +
			"taken. The handle refuses to lock again, and all others wait.",
		Property: liveness, Wrong: labelling(func(*plainLock) error {
			return nil // wrong: the caller does not have it
		}), Right: labelling(func(l *plainLock) error { return l.leave() })},
	{Slug: "only-child-owns", Title: "one child in the directory means that it is the own one",
		Source: Code, Link: "https://github.com/mausimag/supervisor/blob/7882ca1d8b7d35da72655a35c127350429de68da/mutex.go#L46-L49",
		See: []string{"RoleSelector of the same library"},
		Bug: "A waiter counts the children, and owns the lock if there is one. When the waiter's " +
			"session ends its node goes. The one that is left is the owner's, and both own the " +
			"lock.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if len(queue) == 1 && queue[0] != l.own {
					return "", nil // wrong: it is another's
				}
				return l.predecessor(queue)
			}
		})},
	{Slug: "first-of-several-waits", Title: "the first of several waits for a change",
		Source: Code, Link: "https://github.com/mausimag/supervisor/blob/7882ca1d8b7d35da72655a35c127350429de68da/mutex.go#L40-L75",
		See: []string{"RoleSelector of the same library"},
		Bug: "A contender that is not alone waits for the next change of the directory before it " +
			"looks at the order. If the owner leaves before the first look, and others wait " +
			"behind, the contender is the first and waits for a change, as all others do: a " +
			"Mutex until its timeout, a RoleSelector for ever.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			changed := false
			l.ahead = func(queue []string) (string, error) {
				if !changed && len(queue) > 1 {
					return l.own, nil // wrong: the own node may be the first
				}
				changed = false
				return l.predecessor(queue)
			}
			l.await = func(ctx context.Context, _ string) bool {
				names, _, change, err := l.conn.ChildrenW(l.dir)
				if err == nil && len(l.sorted(names)) > 1 {
					event, err := await(ctx, change)
					changed = err == nil && event.Err == nil
				}
				return false
			}
		})},
	{Slug: "each-try-leaves-node", Title: "a waiter that is woken too early leaves its node",
		Source: Code, Link: "https://github.com/nladuo/go-zk-lock/blob/f01e95e75d228432305a1a1b36a80f82d04e2d99/dlocker.go#L69-L128",
		Bug: "A try makes a node and waits for the node before it to go. If the own node is not " +
			"the first then, as the one before had only waited, the try has failed. Its node " +
			"stays, until another client deletes it for its age, and the next try waits behind it.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			woken := false
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if early := woken; err == nil && ahead != "" && early {
					woken = false
					return "", errGone // wrong: the own node is there
				}
				woken = false
				return ahead, err
			}
			l.await = func(ctx context.Context, ahead string) bool {
				woken = true
				return l.awaitDeletion(ctx, ahead)
			}
		})},
	{Slug: "empty-list-owns", Title: "an empty list, and the number 0",
		Source: Code, Link: "https://github.com/DataDog/kafka-kit/blob/e8eb36fb0312c0314905797da296cf63ad37eafc/cluster/zookeeper/locking.go#L84-L102",
		Bug: "The first number of an empty list is 0, with an error that Lock drops. The first " +
			"node of a directory has that number. When its session ends before the list is read " +
			"the list is empty, and the client owns the lock without a node.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if n, _ := sequence(l.own); n == 0 && len(queue) == 0 {
					return "", nil // wrong: the own node is not in the list
				}
				return l.predecessor(queue)
			}
		})},
	{Slug: "waiter-deletes-owner", Title: "a waiter deletes the owner's node after a timeout",
		Source: Code, Link: "https://github.com/nladuo/go-zk-lock/blob/f01e95e75d228432305a1a1b36a80f82d04e2d99/dlocker.go#L129-L144",
		See: []string{"DataDog/kafka-kit"},
		Bug: "A waiter that has waited for its timeout deletes the nodes that are older than " +
			"that. The owner's session lives, and the owner is not told: it works on while the " +
			"waiter takes the lock.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			const patience = 2 * time.Second
			l.await = func(ctx context.Context, ahead string) bool {
				soon, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				_, _, gone, err := l.conn.GetW(l.path(ahead))
				if err != nil {
					return false
				}
				if _, err := await(soon, gone); err != nil && ctx.Err() == nil {
					_ = l.conn.Delete(l.path(ahead), -1) // wrong: its owner may be there
				}
				return false
			}
		})},
}

// labelled is a lock that writes a label into its directory.
type labelled struct {
	*plainLock
	unlabelled func(*plainLock) error // after a label that was not written
}

// labelling is a workload of locks with labels.
func labelling(unlabelled func(*plainLock) error) scenario.Workload {
	return openLock(func(l *plainLock) object.Locker { return labelled{l, unlabelled} })
}

func (l labelled) Lock(ctx context.Context) error {
	if l.own != "" {
		return zk.ErrDeadlock
	}
	if err := l.plainLock.Lock(ctx); err != nil {
		return err
	}
	if _, err := l.conn.Set(l.dir, []byte(l.own), -1); err != nil {
		return errors.Join(err, l.unlabelled(l.plainLock))
	}
	return nil
}
