package check

import (
	"cmp"
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
	clocks  record.Clocks // none of one clock
}

// read reads the files and the log, and finds how far the clocks differ.
func (c *Command) read(k kind) (h histories, err error) {
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
	for i, f := range h.files {
		if f.Began.Sub(h.files[0].Began).Abs() > mostApart {
			return h, fmt.Errorf("%s began in %d, and %s in %d; expected clocks that differ by less than "+
				"ten years", c.Files[i], f.Began.Year(), c.Files[0], h.files[0].Began.Year())
		}
	}
	one := h.files[0].History
	if len(h.files) > 1 {
		merged, err := record.Merge(h.files, c.Files, nil)
		if err != nil {
			return h, err
		}
		if one = merged.History; len(one.Ops) == 0 {
			return h, errors.New("there is no call to judge")
		}
		if haveOneClock(h.files) {
			h.files = []record.File{merged}
		}
	}
	if h.changes, err = c.changes(k, one); err != nil || len(h.files) == 1 {
		return h, err
	}
	h.clocks, err = record.Align(h.files, h.changes)
	return h, err
}

// mostApart is how far clocks may differ.
const mostApart = 10 * 365 * 24 * time.Hour

// haveOneClock reports whether the first lines of the files say that they have one clock.
func haveOneClock(files []record.File) bool {
	return files[0].Clock != "" && !slices.ContainsFunc(files, func(f record.File) bool {
		return f.Clock != files[0].Clock
	})
}

// judgeAll judges the history of all processes. With several clocks a verdict counts if it is the
// same with all clocks that are tried. A violation must also be one if each call takes as long as
// the bounds of the clocks allow: then no clocks explain it. All else is undecided.
func (c *Command) judgeAll(k kind, h histories) (checked, error) {
	if h.clocks.Tried == nil {
		return c.judgeWith(k, h, nil)
	}
	tried, err := c.judgeEach(k, h, h.clocks.Tried)
	if len(tried) == 0 {
		return checked{}, err
	}
	var loose []checked // without one no violation is certain
	if h.within(vague) || len(h.changes) == 0 && !k.meets {
		loose, _ = c.judgeEach(k, h, h.clocks.Loose)
	}
	r, doubtful := shownOf(tried, loose), false
	for i, v := range r.Report.Verdicts {
		best, worst := statuses(tried, v.Property)
		why := ""
		switch {
		case worst == linearizability.OK || worst == linearizability.Unknown && best == worst:
			continue
		case best < linearizability.Violated && v.Status == linearizability.Violated:
			why = "only with some clocks"
		case best < linearizability.Violated:
			why = "not with all clocks"
		case certain(tried, loose, v.Property) != nil:
			continue
		default:
			why = "perhaps not with all clocks"
		}
		doubtful = true
		r.Report.Verdicts[i].Status = linearizability.Unknown
		r.Report.Verdicts[i].Summary = fmt.Sprintf("%s, and %s would tell: %s", why, c.needs(h), v.Summary)
	}
	if doubtful && slices.ContainsFunc(h.files, func(f record.File) bool { return f.Clock == "" }) {
		r.notes = append(r.notes, "If all processes ran on one machine, let the first lines of their "+
			"files say so: the same \"clock\" in each.")
	}
	r.notes = append(c.clockNotes(h, r.clocks), r.notes...)
	r.notes = append(r.notes, fmt.Sprintf("It is taken for granted that clocks drift apart by at most "+
		"%v a second.", time.Duration(record.Drift*1e9)))
	return r, nil
}

// within reports whether the bounds of each clock differ by at most d.
func (h histories) within(d time.Duration) bool {
	return !slices.ContainsFunc(h.clocks.Bounds, func(b record.Clock) bool {
		return !b.Bounded() || b.Most-b.Least > d
	})
}

// vague is how far the clocks may differ from the server's so that its log still convicts. The more
// they may, the more znodes were there before or after the calls that made them.
const vague = 20 * time.Millisecond

// judgeEach judges the history with each of some clocks, except those that the tokens do not allow.
func (c *Command) judgeEach(k kind, h histories, list [][]record.Clock) (all []checked, err error) {
	for _, add := range list {
		r, not := c.judgeWith(k, h, add)
		if err = cmp.Or(err, not); not == nil {
			all = append(all, r)
		}
	}
	return all, err
}

// statuses are the best and the worst verdict on a property. A verdict that is missing is about
// calls that had not returned at the end.
func statuses(list []checked, property string) (best, worst linearizability.Status) {
	best = linearizability.Violated
	for _, r := range list {
		status := linearizability.Unknown
		if v, judged := r.Report.Verdict(property); judged {
			status = v.Status
		}
		best, worst = min(best, status), max(worst, status)
	}
	return best, worst
}

// certain is the history that shows that a property is violated with all clocks, nil if none does.
// The same events must be to blame in a loose one, which may break a promise by itself.
// Fencing is about the order of returns, which longer calls may change: there the same two grants
// must be to blame with all clocks.
func certain(tried, loose []checked, property string) *checked {
	if best, _ := statuses(tried, property); best < linearizability.Violated {
		return nil
	}
	if property == linearizability.Fencing {
		first := tried[0].blamed(property)
		if slices.ContainsFunc(tried, func(r checked) bool {
			return !slices.Equal(r.blamed(property), first)
		}) {
			return nil
		}
		return &tried[0]
	}
	for _, r := range loose {
		if v, _ := r.Report.Verdict(property); v.Status != linearizability.Violated {
			continue
		}
		events := r.blamed(property)
		for i := range tried {
			if property == linearizability.Linearizability ||
				slices.Equal(tried[i].blamed(property), events) {
				return &tried[i]
			}
		}
	}
	return nil
}

// shownOf is the history to show: one with the events by which a property is violated with all
// clocks, or else one in which a property is violated, or else the first.
func shownOf(tried, loose []checked) checked {
	properties := linearizability.Properties()
	for _, p := range properties {
		if sure := certain(tried, loose, p); sure != nil {
			return *sure
		}
	}
	for _, p := range properties {
		if _, worst := statuses(tried, p); worst == linearizability.Violated {
			return tried[slices.IndexFunc(tried, func(r checked) bool {
				v, _ := r.Report.Verdict(p)
				return v.Status == worst
			})]
		}
	}
	return tried[0]
}

// blamed names the events of the steps of a verdict.
func (r checked) blamed(property string) (events []string) {
	v, _ := r.Report.Verdict(property)
	calls := map[string]int{}
	for _, op := range r.History.Ops {
		calls[op.Client]++
		for i, step := range []int64{op.Call, op.Return} {
			if slices.Contains(v.Steps, step) {
				events = append(events, fmt.Sprint(op.Client, calls[op.Client], i))
			}
		}
	}
	slices.Sort(events)
	return events
}

// needs names what would show more of the clocks.
func (c *Command) needs(h histories) string {
	switch {
	case c.ServerLog != "" && h.within(vague):
		return "closer bounds of the clocks"
	case c.ServerLog != "":
		return "tokens that are czxids, or the sessions of all calls,"
	case h.within(math.MaxInt64 / 4):
		return "--server-log"
	}
	return "--server-log, or tokens that are czxids,"
}

// judgeWith judges the history with times added to the files; nil for one clock.
func (c *Command) judgeWith(k kind, h histories, add []record.Clock) (checked, error) {
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
	if len(c.Files) > 1 && len(notes) == 0 {
		notes = []string{"A step counts the events of all files. Stories and pictures have the line of each."}
	}
	r.notes, r.clocks = append(r.notes, notes...), add
	return r, nil
}

// clockNotes says what is known of the clocks of the files, and what was added to their times.
func (c *Command) clockNotes(h histories, add []record.Clock) (notes []string) {
	for i, bounds := range h.clocks.Bounds {
		if bounds.Least != bounds.Most { // else the others are compared with it
			notes = append(notes, fmt.Sprintf("%s: %s were added to its times; %s", c.Files[i],
				rounded(h.clocks.First(i, add).Least), known(bounds)))
		}
	}
	return notes
}

// known tells what is known of a clock.
func known(c record.Clock) string {
	least, most := record.Clock{Least: c.Least}.Bounded(), record.Clock{Most: c.Most}.Bounded()
	switch {
	case least && most:
		return fmt.Sprintf("it may be %s to %s.", rounded(c.Least), rounded(c.Most))
	case least:
		return fmt.Sprintf("it may be %s or more, and nothing shows how much more.", rounded(c.Least))
	case most:
		return fmt.Sprintf("it may be %s or less, and nothing shows how much less.", rounded(c.Most))
	}
	return "nothing shows how far its clock differs."
}

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
