package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/record"
)

// histories are those of one object, of a process each, with the changes in the server's log.
type histories struct {
	files   []record.File
	changes []record.Change
	clocks  []record.Clock // nil of one process
}

// read reads the files and the log, and finds how far the clocks differ.
func (c *Command) read(k kind) (h histories, err error) {
	none := make([]time.Duration, len(c.Files))
	for _, name := range c.Files {
		file, err := c.load(name)
		if err != nil {
			return h, err
		}
		if len(file.History.Ops) > 0 || len(c.Files) == 1 {
			if err := c.fits(k, file.History); err != nil {
				return h, fmt.Errorf("%s: %w", name, err)
			}
		}
		h.files = append(h.files, file)
	}
	one := h.files[0].History
	if len(h.files) > 1 {
		merged, err := record.Merge(h.files, c.Files, none)
		if err != nil {
			return h, err
		}
		if one = merged.History; len(one.Ops) == 0 {
			return h, errors.New("there is no call to judge")
		}
	}
	if h.changes, err = c.changes(k, one); err != nil || len(h.files) == 1 {
		return h, err
	}
	h.clocks, err = record.Align(h.files, h.changes)
	return h, err
}

// judgeAll judges the history of all processes. With several processes it begins with the likely
// clocks. If the tokens allow other ones that explain the calls, nothing is violated: as with a
// call of unknown outcome, one explanation is enough. Clocks of which the tokens say nothing are no
// explanation, nor are clocks that differ by more than those of a time service without need; then a
// violation that other clocks do not show is undecided, and so is what only equal clocks show.
func (c *Command) judgeAll(k kind, h histories) (checked, error) {
	if h.clocks == nil {
		return c.judgeWith(k, h, nil)
	}
	shown := likelyOf(h.clocks)
	r, err := c.judgeWith(k, h, shown)
	if err != nil {
		return r, err
	}
	if add := equalOf(h.clocks); !slices.Equal(add, shown) {
		equal, err := c.judgeWith(k, h, add)
		if err == nil && equal.Status() > r.Status() {
			equal.doubt(r) // the likely clocks are a guess
			r, shown = equal, add
		}
	}
	for _, add := range others(h.clocks) {
		if r.Status() == linearizability.OK {
			break
		}
		other, err := c.judgeWith(k, h, add)
		switch {
		case err != nil: // the tokens do not allow these clocks together
		case other.Status() < r.Status() && explains(h.clocks, add):
			r, shown = other, add
		default:
			r.doubt(other)
		}
	}
	r.notes = append(c.clockNotes(h, shown), r.notes...)
	return r, nil
}

func likelyOf(clocks []record.Clock) (add []time.Duration) {
	for _, clock := range clocks {
		add = append(add, clock.Likely)
	}
	return add
}

// near is the greatest difference of clocks that a time service keeps.
const near = 100 * time.Millisecond

// mayBeNear reports whether a clock may be near to the one with which it is compared.
func mayBeNear(c record.Clock) bool { return c.Least <= near && c.Most >= -near }

// equalOf is likelyOf, but clocks that may agree do so if they have no bounds or are not near.
func equalOf(clocks []record.Clock) []time.Duration {
	add := likelyOf(clocks)
	for i, clock := range clocks {
		if mayBeNear(clock) && (!clock.Bounded() || add[i].Abs() > near) {
			add[i] = max(clock.Least, min(0, clock.Most))
		}
	}
	return add
}

// explains reports whether what is added to the files may be an explanation: the tokens give bounds
// to each clock that is changed, and each that may be near is.
func explains(clocks []record.Clock, add []time.Duration) bool {
	for i, equal := range equalOf(clocks) {
		c, far := clocks[i], add[i].Abs() > near
		if add[i] != equal && (!c.Bounded() || mayBeNear(c) && far) {
			return false
		}
	}
	return true
}

// judgeWith judges the history with times added to the files; nil for a single file.
func (c *Command) judgeWith(k kind, h histories, add []time.Duration) (checked, error) {
	file := h.files[0]
	var err error
	if add != nil {
		if file, err = record.Merge(h.files, c.Files, add); err != nil {
			return checked{}, err
		}
	}
	file, notes, err := c.withServer(file, h.changes)
	if err != nil {
		return checked{}, err
	}
	r, err := c.judge(k, file)
	if err != nil {
		return r, fmt.Errorf("%s: %w", c.name(), err)
	}
	if add != nil && len(notes) == 0 {
		notes = []string{"A step counts the events of all files: it is no line of one."}
	}
	r.notes = append(r.notes, notes...)
	return r, nil
}

// doubt makes violations unknown that other clocks do not show.
func (r *checked) doubt(other checked) {
	for i, v := range r.Report.Verdicts {
		w, judged := other.Report.Verdict(v.Property)
		if v.Status == linearizability.Violated && judged && w.Status != linearizability.Violated {
			r.Report.Verdicts[i].Status = linearizability.Unknown
			r.Report.Verdicts[i].Summary = "only with some clocks that the tokens allow: " + v.Summary
		}
	}
}

// mostClocks limits the differences of clocks that are tried, near ones and others.
const mostClocks = 100

// others lists what is added to the files beside the likely: values between the bounds of each, in
// all combinations if there are few files, else one file after the other. Clocks that may be near
// are tried so first. Where the tokens give no bounds, others differ from the likely by less than a
// second.
func others(clocks []record.Clock) [][]time.Duration {
	nearby, wide := slices.Clone(clocks), slices.Clone(clocks)
	for i, equal := range equalOf(clocks) {
		c := clocks[i]
		if mayBeNear(c) {
			nearby[i] = record.Clock{
				Least: max(c.Least, -near), Likely: equal, Most: min(c.Most, near)}
		}
		if !c.Bounded() {
			wide[i].Least = max(c.Least, c.Likely-time.Second)
			wide[i].Most = min(c.Most, c.Likely+time.Second)
		}
		if !nearby[i].Bounded() {
			nearby[i] = wide[i]
		}
	}
	return append(between(nearby), between(wide)...)
}

// between lists the values between the bounds of the clocks.
func between(clocks []record.Clock) [][]time.Duration {
	var free []int // the files with another clock than that with which they are compared
	for i, clock := range clocks {
		if clock.Least < clock.Most {
			free = append(free, i)
		}
	}
	perFile := mostClocks
	for perFile > 2 && math.Pow(float64(perFile), float64(len(free))) > mostClocks {
		perFile--
	}
	single := perFile < 4
	if single {
		perFile = max(2, mostClocks/max(1, len(free)))
	}
	list := [][]time.Duration{likelyOf(clocks)}
	for _, i := range free {
		grown := list
		if single {
			grown = list[:1]
		}
		for _, add := range slices.Clone(grown) {
			for n := range perFile {
				next := slices.Clone(add)
				next[i] = clocks[i].Least +
					(clocks[i].Most-clocks[i].Least)*time.Duration(n)/time.Duration(perFile-1)
				list = append(list, next)
			}
		}
	}
	return list[1:]
}

// clockNotes says how the clocks of the files were aligned.
func (c *Command) clockNotes(h histories, add []time.Duration) (notes []string) {
	for i, clock := range h.clocks {
		if clock.Least != clock.Most { // else the others are compared with it
			notes = append(notes, fmt.Sprintf("%s: %s", c.Files[i], added(clock, add[i])))
		}
	}
	return notes
}

// added tells what the tokens say of a clock, and which value of these was added to its times.
func added(c record.Clock, by time.Duration) string {
	least, most := record.Clock{Least: c.Least}.Bounded(), record.Clock{Most: c.Most}.Bounded()
	const are = "are to be added to its times"
	switch {
	case least && most:
		return fmt.Sprintf("by the tokens %s to %s %s; %s were.", rounded(c.Least), rounded(c.Most),
			are, rounded(by))
	case least:
		return fmt.Sprintf("by the tokens at least %s %s, and they do not show how much more; %s were.",
			rounded(c.Least), are, rounded(by))
	case most:
		return fmt.Sprintf("by the tokens at most %s %s, and they do not show how much less; %s were.",
			rounded(c.Most), are, rounded(by))
	}
	return fmt.Sprintf("the tokens do not show how far its clock differs: %s were added to its times.",
		by.Round(time.Millisecond))
}

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
