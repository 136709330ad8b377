package linearizability

import (
	"fmt"
	"strings"
)

// crowd returns those who hold the lock already when the i-th hold begins, if
// they are as many as may hold it at once, by the steps at which holds end.
func (c *lockCase) crowd(i int, end func(*hold) int64) []*hold {
	b := c.holds[i]
	var others []*hold
	for _, a := range c.holds[:i] {
		if c.differs(a, b) && c.kind.conflicts(a.lock, b.lock) && overlap(a.lock.Return, end(a), b.lock.Return, end(b)) {
			others = append(others, a)
		}
	}
	if len(others) < c.kind.capacity {
		return nil
	}
	return others
}

// differs reports whether two holds cannot be one: those of one client in one
// session may be a re-entrant lock.
func (c *lockCase) differs(a, b *hold) bool {
	return (a.owner != b.owner || c.kind.counted) && a.ending != perhaps && b.ending != perhaps
}

// overlap is about half-open intervals: who gets the lock in the very step in
// which another loses it does not overlap with it.
func overlap(from1, to1, from2, to2 int64) bool { return max(from1, from2) < min(to1, to2) }

// tooMany is the verdict on a hold that began in a crowd.
func (c *lockCase) tooMany(others []*hold, b *hold) Verdict {
	holds := c.shown(others, b)
	var since []string
	for _, h := range holds {
		since = append(since, fmt.Sprintf("%s since step %d (%s)", h.lock.Client, h.lock.Return, through(h)))
	}
	return violated(Safety, steps(holds), "%s own the %s at once%s: %s",
		names(holds), c.kind.noun, strings.TrimSuffix(c.places(), ","), strings.Join(since, ", "))
}

// tooManyBelieve is the verdict on a belief that began among others.
func (c *lockCase) tooManyBelieve(others []*hold, b *hold) Verdict {
	holds := c.shown(others, b)
	all := "both"
	if len(holds) > 2 {
		all = "all"
	}
	a := others[0]
	return violated(Belief, steps(holds),
		"%s %s believe that they hold the %s%s at step %d: %s (%s) has held it since step %d, and nothing has ended that",
		names(holds), all, c.kind.noun, c.places(), b.lock.Return, a.lock.Client, through(a), a.lock.Return)
}

// shown are as many holds as are one too many.
func (c *lockCase) shown(others []*hold, b *hold) []*hold {
	return append(append([]*hold(nil), others[:c.kind.capacity]...), b)
}

func (c *lockCase) places() string {
	if c.kind.capacity == 1 {
		return ""
	}
	return fmt.Sprintf(", which has %s,", count(c.kind.capacity, "place"))
}

// names lists the clients: "a, b and c".
func names(holds []*hold) string {
	var list []string
	for _, h := range holds {
		list = append(list, h.lock.Client)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

func steps(holds []*hold) []int64 {
	var list []int64
	for _, h := range holds {
		list = append(list, h.lock.Return)
	}
	return list
}
