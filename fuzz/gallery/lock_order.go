package gallery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
)

var publishedLockOrder = []Exhibit{
	{Slug: "session-before-sequence", Alias: "B1",
		Title:  "the session's id is compared before the sequence number",
		Source: Report, Link: "https://github.com/apache/zookeeper/pull/413", See: []string{"S0-2"},
		Bug: "Nodes are called x-<session>-<sequence>, and compared as a pair. A client with a " +
			"smaller session id that arrives later sorts before the owner, and both own the lock.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.naming = l.session
			l.order = func(a, b string) int { // wrong: the session does not tell the age
				return cmp.Or(strings.Compare(prefixOf(a), prefixOf(b)), bySequence(a, b))
			}
		})},
	{Slug: "predecessor-by-whole-name", Alias: "B2",
		Title:  "sorted by sequence, searched by name",
		Source: Report, Link: "https://github.com/apache/zookeeper/pull/662",
		Bug: "The C recipe sorts the children by sequence number. Its predecessor is the last " +
			"child with a smaller name than the own one. Names begin with a session id, so there " +
			"may be no such child, and a client without a predecessor owns the lock.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if !slices.Contains(queue, l.own) {
					return "", errGone
				}
				// wrong: they are sorted by number
				return l.orConfirm(last(queue, func(name string) bool { return name < l.own }))
			}
		})},
	{Slug: "minus-sign-cut-off", Alias: "B3", Title: "the minus sign is taken for the separator",
		Source: Report,
		Link:   "https://github.com/apache/zookeeper/commit/2dcc64d9411e7b24402222437215ab2fe1e59c2e",
		See:    []string{"S0-11"},
		Bug: "The number is what follows the last '-' of the name. Once the numbers of a " +
			"directory have wrapped they are negative. Without their sign the order is reversed: " +
			"the latest node is first.",
		Property: safety, Wrong: wrapped(lockOf(func(l *plainLock) {
			l.order = func(a, b string) int {
				return cmp.Compare(afterLastMinus(a), afterLastMinus(b))
			}
		})), Right: wrapped(lockOf())},
	{Slug: "numbers-compared-as-text", Alias: "B4",
		Title:  "sequence numbers are compared as text",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/606",
		Bug: "Ten digits sort as the numbers do, until the counter of the directory has wrapped: " +
			"of two negative numbers the later one is the smaller text. A newcomer is first in " +
			"the queue, and owns the lock beside its owner.",
		Property: safety, Wrong: wrapped(lockOf(func(l *plainLock) { l.order = byText })),
		Right: wrapped(lockOf())},
	{Slug: "ties-broken-by-name", Alias: "B85", Title: "all nodes have the largest number",
		Source: Code,
		Link:   "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/ZNodeName.java#L109-L113",
		Bug: "Since 3.6 the counter of a directory grows or stays: after 2147483647 each new " +
			"node gets that number, too. Among equal numbers the names decide, which begin with " +
			"a GUID, and a newcomer may sort before the owner.",
		Property: safety, Wrong: stuck(lockOf(func(l *plainLock) {
			// wrong: names do not tell the age
			l.order = func(a, b string) int {
				return cmp.Or(bySequence(a, b), strings.Compare(a, b))
			}
		})), Right: stuck(lockOf(func(l *plainLock) { l.ahead = l.olderNode(czxid) }))},
	{Slug: "negative-numbers-skipped", Alias: "G9",
		Title:  "the Go client's lock among negative numbers",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L107-L120",
		Bug: "The search for the predecessor begins at -1, so it finds none among numbers that " +
			"have wrapped. The lock asks for a node without a name, which is an invalid path, " +
			"and its own node stays.",
		Property: liveness, Wrong: wrapped(lockOf(failing, func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if ahead, err := l.predecessor(queue); ahead == "" {
					return "", err
				}
				before := last(queue, func(name string) bool {
					n, _ := sequence(name)
					return n > -1 && l.isBefore(name) // wrong: numbers may be smaller than -1
				})
				if before == "" {
					return "", fmt.Errorf("%w: %w", errFailed, zk.ErrInvalidPath)
				}
				return before, nil
			}
		})), Right: wrapped(lockOf())},
	{Slug: "recovered-name-without-path", Alias: "S0-1",
		Title: "the recovered id lacks its directory", Source: Code,
		Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L190",
		See:  []string{"S2-5 (that it is of production quality)"},
		Bug: "WriteLock compares ids that are full paths. After a lost reply it finds its id by " +
			"its prefix, and that one is a bare name. The full path of the same node sorts " +
			"before the bare name, so the lock waits for its own node.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			recovered := false
			l.find = func() (found bool, err error) {
				recovered, err = l.findPrefix()
				return recovered, err
			}
			l.naming = func() string { recovered = false; return l.guid() }
			l.ahead = func(queue []string) (string, error) {
				id := l.path(l.own)
				if recovered {
					id = l.own // wrong: the other ids have the directory
				}
				return l.orConfirm(last(queue, func(name string) bool {
					return cmp.Or(bySequence(name, l.own), cmp.Compare(l.path(name), id)) < 0
				}))
			}
		})},
}

// session is a prefix with the session's id. The client has none before the first reply.
func (l *plainLock) session() string {
	for i := 0; i < attempts && l.conn.SessionID() == 0; i++ {
		_, _, _ = l.conn.Exists(l.dir)
	}
	return fmt.Sprintf("x-%016x-%s", l.conn.SessionID(), marker)
}

func prefixOf(name string) string { return name[:strings.LastIndex(name, marker)] }

func afterLastMinus(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return -1
	}
	return n
}

// byText orders names by their numbers, as text.
func byText(a, b string) int { return strings.Compare(numberText(a), numberText(b)) }

func numberText(name string) string { return name[strings.LastIndex(name, marker)+len(marker):] }

// wrapped is a workload in a directory with sequence numbers that wrapped some time ago.
func wrapped(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: -2_000_000_000}
	return w
}

// stuck is a workload in a directory that has used up its numbers.
func stuck(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: math.MaxInt32}
	return w
}

func czxid(stat *zk.Stat) int64 { return stat.Czxid }
func ctime(stat *zk.Stat) int64 { return stat.Ctime }

// olderNode finds the node before the own one by their births, and by their names if these are
// equal.
func (l *plainLock) olderNode(birth func(*zk.Stat) int64) func(queue []string) (string, error) {
	return func(queue []string) (string, error) {
		born := map[string]int64{}
		for _, name := range queue {
			exists, stat, err := l.conn.Exists(l.path(name))
			if err != nil {
				return "", err
			}
			if exists {
				born[name] = birth(stat)
			}
		}
		queue = slices.DeleteFunc(queue, func(name string) bool { return born[name] == 0 })
		slices.SortStableFunc(queue, func(a, b string) int { return cmp.Compare(born[a], born[b]) })
		return l.predecessor(queue)
	}
}
