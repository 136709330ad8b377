package recipes

import (
	"errors"
	"fmt"
	"math"
)

// ErrNumbersUsedUp is returned when the sequence numbers of a directory are used up, so that the
// order of its next children is unknown. It is wrapped together with the directory. No node stays.
// Use a new directory, or delete the directory once it is empty: its numbers begin at 0 when it is
// made again, which a container node of the option Containers does by itself.
var ErrNumbersUsedUp = errors.New("sequence numbers are used up")

// overshoot is the count of further numbers, from -2147483648 on, that are not unique. A server
// counts on while creations in one directory are on their way through it, or in one transaction,
// and falls back to 2147483647 when they are applied: more than it lets in at a time
// (globalOutstandingLimit, 1000 unless set otherwise).
const overshoot = 1 << 16

// lastNumber returns an error for a number that several children of dir can have, otherwise nil.
// Since ZooKeeper 3.6 (ZOOKEEPER-3249) a directory's counter only grows: it stays at 2147483647,
// and among children of one number the names decide, which begin with a GUID, so that a newcomer
// may sort before the owner of a lock. The czxid does not help: a reader beside a write lock, and
// an element that is put back, stand at the place of their number and not of their birth.
func lastNumber(dir string, seq int32) error {
	if isUnique(seq) {
		return nil
	}
	return fmt.Errorf(
		"%w: a child of %s got %d, as others may; "+
			"use a new directory, or delete this one once it is empty",
		ErrNumbersUsedUp, dir, seq,
	)
}

// isUnique reports whether a directory gives a number to one child only.
func isUnique(seq int32) bool { return seq < math.MaxInt32 && seq >= math.MinInt32+overshoot }
