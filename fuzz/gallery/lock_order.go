package gallery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedLockOrder = []Exhibit{
	{
		Slug: "session-before-sequence", Alias: "B1",
		Title:  "the session's id is compared before the sequence number",
		Source: Report, Link: "https://github.com/apache/zookeeper/pull/413",
		See: []string{"S0-2"},
		Bug: "Nodes are called x-<session>-<sequence>, and compared as a pair. A client with a " +
			"smaller session id that arrives later sorts before the owner, and both own the lock.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.naming = l.session
			l.order = func(a, b string) int { return cmp.Or(strings.Compare(prefixOf(a), prefixOf(b)), bySequence(a, b)) }
		}),
	},
	{
		Slug: "predecessor-by-whole-name", Alias: "B2",
		Title:  "sorted by sequence, searched by name",
		Source: Report, Link: "https://github.com/apache/zookeeper/pull/662",
		Bug: "The C recipe sorts the children by sequence number, and then takes the last one " +
			"whose whole name is smaller than the own one for the predecessor. Names begin with a " +
			"session id, so there may be none, and who waits for nobody owns the lock.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if !slices.Contains(queue, l.own) {
					return "", errGone
				}
				floor := ""
				for _, name := range queue {
					if name < l.own { // wrong: not what they are sorted by
						floor = name
					}
				}
				if floor == "" {
					return "", l.confirm()
				}
				return floor, nil
			}
		}),
	},
	{
		Slug: "minus-sign-cut-off", Alias: "B3",
		Title:  "the minus sign is taken for the separator",
		Source: Report, Link: "https://github.com/apache/zookeeper/commit/2dcc64d9411e7b24402222437215ab2fe1e59c2e",
		See: []string{"S0-11"},
		Bug: "The number is what follows the last '-' of the name. Once the numbers of a directory " +
			"have wrapped they are negative, lose their sign so, and whoever comes later is " +
			"first.",
		Property: linearizability.Safety,
		Wrong: wrapped(lockOf(func(l *naked) {
			l.order = func(a, b string) int { return cmp.Compare(afterLastMinus(a), afterLastMinus(b)) }
		})),
		Right: wrapped(lockOf(nil)),
	},
	{
		Slug: "numbers-compared-as-text", Alias: "B4",
		Title:  "sequence numbers are compared as text",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/606",
		Bug: "Ten digits sort as the numbers do, until the counter of the directory has wrapped: " +
			"of two negative numbers the later one is the smaller text. Whoever comes later is " +
			"first, and owns what somebody else owns.",
		Property: linearizability.Safety,
		Wrong:    wrapped(lockOf(func(l *naked) { l.order = byText })),
		Right:    wrapped(lockOf(nil)),
	},
	{
		Slug: "ties-broken-by-name", Alias: "B85",
		Title:  "everybody has the largest number",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/ZNodeName.java#L109-L113",
		Bug: "Since 3.6 the counter of a directory grows or stays: after 2147483647 each new node " +
			"gets that number, too. Among equal numbers the names decide, which begin with a " +
			"GUID, and a newcomer may sort before the owner.",
		Property: linearizability.Safety,
		Wrong: stuck(lockOf(func(l *naked) {
			// wrong: names do not tell the age
			l.order = func(a, b string) int { return cmp.Or(bySequence(a, b), strings.Compare(a, b)) }
		})),
		Right: stuck(lockOf(func(l *naked) { l.ahead = l.elder })),
	},
	{
		Slug: "negative-numbers-skipped", Alias: "G9",
		Title:  "the Go client's lock among negative numbers",
		Source: Code, Link: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go#L107-L120",
		Bug: "The search for the predecessor begins at -1, so that none is found among numbers " +
			"that have wrapped. The lock asks for a node without a name, which is an invalid " +
			"path, and its own node stays.",
		Property: linearizability.Liveness,
		Wrong: wrapped(failingLock(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if ahead, err := l.predecessor(queue); ahead == "" {
					return "", err
				}
				own, _ := sequence(l.own)
				largest, before := int32(-1), "" // wrong: numbers may be smaller
				for _, name := range queue {
					if n, _ := sequence(name); n < own && n > largest {
						largest, before = n, name
					}
				}
				if before == "" {
					return "", fmt.Errorf("%w: %w", errFailed, zk.ErrInvalidPath)
				}
				return before, nil
			}
		})),
		Right: wrapped(lockOf(nil)),
	},
	{
		Slug: "recovered-name-without-path", Alias: "S0-1",
		Title:  "the recovered id lacks its directory",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L190",
		See: []string{"S2-5 (that it is of production quality)"},
		Bug: "WriteLock compares ids that are full paths. The one that it finds by its prefix, " +
			"after a lost reply, is a bare name: of the same number, its own node's path sorts " +
			"before it, so that it waits for its own node.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			recovered := false
			l.find = func() (bool, error) {
				found, err := l.findPrefix()
				recovered = found
				return found, err
			}
			l.naming = func() string { recovered = false; return l.guid() }
			l.ahead = func(queue []string) (string, error) {
				id := l.path(l.own)
				if recovered {
					id = l.own // wrong: all others have the directory
				}
				below := ""
				for _, name := range queue {
					if cmp.Or(bySequence(name, l.own), cmp.Compare(l.path(name), id)) < 0 {
						below = name
					}
				}
				if below != "" {
					return below, nil
				}
				return "", l.confirm()
			}
		}),
	},
}

// session is a prefix that tells the session. There is none before the first reply.
func (l *naked) session() string {
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

// wrapped is a workload whose sequence numbers wrapped some time ago.
func wrapped(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: -2_000_000_000}
	return w
}

// byText orders names by what follows the marker, as text.
func byText(a, b string) int { return strings.Compare(numberText(a), numberText(b)) }

func numberText(name string) string { return name[strings.LastIndex(name, marker)+len(marker):] }

// stuck is a workload in a directory whose numbers are used up.
func stuck(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: math.MaxInt32}
	return w
}

// elder is the node before the own one in the order of their czxids.
func (l *naked) elder(queue []string) (string, error) {
	born := map[string]int64{}
	for _, name := range queue {
		exists, stat, err := l.conn.Exists(l.path(name))
		if err != nil {
			return "", err
		}
		if exists {
			born[name] = stat.Czxid
		}
	}
	queue = slices.DeleteFunc(queue, func(name string) bool { return born[name] == 0 })
	slices.SortFunc(queue, func(a, b string) int { return cmp.Compare(born[a], born[b]) })
	return l.predecessor(queue)
}

// failingLock is a workload of a naked lock with steps that fail.
func failingLock(replace func(*naked)) scenario.Workload {
	return openLock(func(env object.Env) object.Locker { return failing(remade(env.Conn, lockDir, replace)) })
}
