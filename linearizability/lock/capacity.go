package lock

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// crowd has the holds that are not over. until is the step at which a hold ends.
type crowd struct {
	kind  kind
	until func(*hold) int64
	open  []*hold
}

// with adds the next hold, in the order of the returns. It returns the holds that take all places
// when this one begins, or nil. A hold that begins at the step in which another one ends does not
// overlap with it.
func (c *crowd) with(b *hold) (others []*hold) {
	c.open = slices.DeleteFunc(c.open, func(a *hold) bool { return c.until(a) <= b.lock.Return })
	for _, a := range c.open {
		if c.kind.differ(a, b) && c.kind.conflicts(a.lock, b.lock) && c.until(b) > b.lock.Return {
			others = append(others, a)
		}
	}
	c.open = append(c.open, b)
	if len(others) < c.kind.capacity {
		return nil
	}
	return others
}

// differ reports whether two holds are certainly not one hold. Two holds of one client in one
// session may be one hold of a re-entrant lock.
func (k kind) differ(a, b *hold) bool {
	return a.owner != b.owner || k.counted
}

// tooManyOwn is the verdict on a hold that began when others took all places.
func (k kind) tooManyOwn(others []*hold, b *hold) lin.Verdict {
	holds := k.oneTooMany(others, b)
	var since []string
	for _, h := range holds {
		since = append(since, fmt.Sprintf("%s since step %d (%s)",
			k.holder(h), h.lock.Return, h.sessionAndNode()))
	}
	return judging.Violated(lin.Safety, steps(holds), "%s own the %s at once%s: %s%s", k.names(holds), k.noun,
		strings.TrimSuffix(k.places(), ","), strings.Join(since, ", "), k.overtook(others[0], b))
}

// overtook says of two holds that exclude each other that one of them was granted although the
// other's znode is older and was there.
func (k kind) overtook(a, b *hold) string {
	if k.capacity > 1 || a.node == nil || b.node == nil {
		return ""
	}
	older, younger := a, b
	if younger.node.Created < older.node.Created {
		older, younger = b, a
	}
	if !older.node.ExistsAt(younger.lock.Return) || older.node == younger.node {
		return ""
	}
	if copiesNumber(younger.node.Path, older.node.Path) {
		return fmt.Sprintf("; %s was granted it although %s's %s was there", k.holder(b), k.holder(a),
			a.node.Path)
	}
	return fmt.Sprintf("; %s was granted it although the older %s was there", k.holder(younger),
		older.node.Path)
}

// copiesNumber reports whether a younger znode has a smaller sequence number than an older one: it
// stands ahead in the queue, as the node by which a writer reads on. After an overflow the numbers
// say nothing.
func copiesNumber(younger, older string) bool {
	y, o := sequenceNumber(younger), sequenceNumber(older)
	return 0 <= y && y < o && path.Dir(younger) == path.Dir(older)
}

// sequenceNumber is the number at the end of a path, or -1 if there is none or it may be negative.
func sequenceNumber(at string) int64 {
	name, digits := at[:max(0, len(at)-10)], at[max(0, len(at)-10):]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || digits[0] < '0' || digits[0] > '9' || strings.HasSuffix(name, "--") {
		return -1
	}
	return n
}

// tooManyBelieve is the verdict on a belief that began when others took all places.
func (k kind) tooManyBelieve(others []*hold, b *hold) lin.Verdict {
	holds := k.oneTooMany(others, b)
	all := "both"
	if len(holds) > 2 {
		all = "all"
	}
	a := others[0]
	return judging.Violated(lin.Belief, steps(holds),
		"%s %s believe that they hold the %s%s at step %d: "+
			"%s (%s) has held it since step %d, and nothing has ended that",
		k.names(holds), all, k.noun, k.places(), b.lock.Return,
		k.holder(a), a.sessionAndNode(), a.lock.Return)
}

// perhapsTooMany is the verdict on a hold that began when others may have taken all places: the end
// of one of these holds is not known.
func (k kind) perhapsTooMany(property string, others []*hold, b *hold) lin.Verdict {
	holds := k.oneTooMany(others, b)
	lost := holds[slices.IndexFunc(holds, func(h *hold) bool { return h.ending == unknownEnd })]
	return judging.Unknown(property, steps(holds), "%s may have had the %s at once%s since step %d: "+
		"%s, who was granted it at step %d, lost it at an unknown step before %d, which the server's "+
		"log would show", k.names(holds), k.noun, strings.TrimSuffix(k.places(), ","), b.lock.Return,
		k.holder(lost), lost.lock.Return, lost.beliefEnd)
}

// oneTooMany returns b and enough of the others to exceed the capacity by one.
func (k kind) oneTooMany(others []*hold, b *hold) []*hold {
	return append(append([]*hold(nil), others[:k.capacity]...), b)
}

func (k kind) places() string {
	if k.capacity == 1 {
		return ""
	}
	return fmt.Sprintf(", which has %s,", judging.Count(k.capacity, "place"))
}

// sessionAndNode names the session and the znode of a hold.
func (h *hold) sessionAndNode() string {
	text := "session not known"
	if h.owner.Session != 0 {
		text = judging.Session(h.owner.Session)
	}
	if h.node != nil {
		text += ", " + h.node.Path
	}
	return text
}

// holder is the client of a hold, with its handle unless that is the first.
func (k kind) holder(h *hold) string {
	if k.handles && h.lock.Input != "" {
		return fmt.Sprintf("%s (%s)", h.lock.Client, h.lock.Input)
	}
	return h.lock.Client
}

func (k kind) names(holds []*hold) string {
	var list []string
	for _, h := range holds {
		list = append(list, k.holder(h))
	}
	return judging.Listed(list)
}

func steps(holds []*hold) []int64 {
	var list []int64
	for _, h := range holds {
		list = append(list, h.lock.Return)
	}
	return list
}
