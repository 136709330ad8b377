package request

import (
	"errors"
	"fmt"
	"math"
)

// ErrNumbersUsedUp is returned when the sequence numbers of a directory are used up, so that the
// order of its next children is unknown. The wrapping error names the directory. The operation
// leaves no node behind. Use a new directory, or delete the directory once it is empty: the numbers
// of a new directory begin at 0. With the option Containers the server deletes the empty directory
// itself.
var ErrNumbersUsedUp = errors.New("sequence numbers are used up")

// overshoot is the number of values from -2147483648 on that are not unique. While creations are on
// their way through a server or in one transaction, its counter goes beyond 2147483647; it falls
// back when they are applied. overshoot is larger than the number of requests that a server lets in
// at a time (globalOutstandingLimit, 1000 unless set otherwise).
const overshoot = 1 << 16

// LastNumber returns an error for a number that several children of dir can have, otherwise nil.
// Since ZooKeeper 3.6 (ZOOKEEPER-3249) a directory's counter never wraps: it stays at 2147483647.
// Children with the same number are sorted by their names, which begin with a GUID, so a newcomer
// may come before the holder of a lock. The czxid cannot decide instead: the place of a reader
// beside a write lock, and of an element that is put back, follows its number and not its creation.
func LastNumber(dir string, seq int32) error {
	if IsUnique(seq) {
		return nil
	}
	return fmt.Errorf(
		"%w: a child of %s got %d, as others may; "+
			"use a new directory, or delete this one once it is empty",
		ErrNumbersUsedUp, dir, seq,
	)
}

// IsUnique reports whether a directory gives the number to one child only.
func IsUnique(seq int32) bool { return seq < math.MaxInt32 && seq >= math.MinInt32+overshoot }
