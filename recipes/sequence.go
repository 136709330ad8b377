package recipes

import "github.com/zksim/zksim/recipes/internal/request"

// ErrNumbersUsedUp is returned when the sequence numbers of a directory are used up, so that the
// order of its next children is unknown. The wrapping error names the directory. The operation
// leaves no node behind. Use a new directory, or delete the directory once it is empty: the numbers
// of a new directory begin at 0. With the option Containers the server deletes the empty directory
// itself.
var ErrNumbersUsedUp = request.ErrNumbersUsedUp

// Sequence returns the sequence number in the name or path of a sequential node: the digits behind
// the last occurrence of marker. marker is the end of the name that was given to create, such as
// "lock-". It returns false for other names. The number is negative when the parent's counter has
// passed 2147483647 (ZOOKEEPER-4372). Only the marker distinguishes its minus sign from a hyphen in
// the name.
func Sequence(name, marker string) (int32, bool) { return request.Sequence(name, marker) }

// SortBySequence returns those of the names that have a sequence number behind marker, oldest
// first. It leaves names as they are. Numbers are comparable only between children of one parent
// that was not deleted meanwhile. The order is right across the wrap from 2147483647 to
// -2147483648, which servers before 3.6 make. Made-up names with numbers far from the server's come
// first or last. They do not change the order of the others as long as the gap around the others is
// larger than any gap between them. Names of the same number are sorted by their text. Nodes get
// the same number when the numbers of a directory are used up.
func SortBySequence(names []string, marker string) []string {
	return request.SortBySequence(names, marker)
}
