package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

func (j *sweepJSON) of() (shard, work string)   { return j.Shard, j.Work }
func (j *fuzzJSON) of() (shard, work string)    { return j.Shard, j.Work }
func (j *huntsJSON) of() (shard, work string)   { return j.Shard, j.Work }
func (j *galleryJSON) of() (shard, work string) { return j.Shard, j.Work }

// setting is a flag that decides what the work of all shards is.
type setting struct {
	flag  string
	value any
}

// workOf is the work of all shards, by the settings that decide it; "" without shards.
func workOf(shard hunt.Part, settings ...setting) string {
	if shard == (hunt.Part{}) {
		return ""
	}
	var list []string
	for _, s := range settings {
		list = append(list, fmt.Sprintf("%s=%v", s.flag, s.value))
	}
	return strings.Join(list, "; ")
}

var errOtherReport = errors.New("it is the report of another command")

// sameWork returns an error if two reports are about different work. It names the settings that
// differ.
func sameWork(of, first string) error {
	if of == first {
		return nil
	}
	its, other := strings.Split(of, "; "), strings.Split(first, "; ")
	if len(its) == len(other) {
		for i := len(its) - 1; i >= 0; i-- {
			if its[i] == other[i] {
				its, other = slices.Delete(its, i, i+1), slices.Delete(other, i, i+1)
			}
		}
	}
	return fmt.Errorf("it is about %s, and not about %s", strings.Join(its, "; "),
		strings.Join(other, "; "))
}

func (j *sweepJSON) merge(other mergeable) error {
	o, ok := other.(*sweepJSON)
	if !ok {
		return errOtherReport
	}
	if err := sameWork(o.Workload+" "+o.Implementation, j.Workload+" "+j.Implementation); err != nil {
		return err
	}
	if err := sameWork(command.Plural(o.Total, "point"), command.Plural(j.Total, "point")); err != nil {
		return err
	}
	if j.Total == 0 { // each shard has found the violation without any fault
		return nil
	}
	j.Points += o.Points
	j.Survived += o.Survived
	j.Undecided += o.Undecided
	j.Missed += o.Missed
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	j.Violations = append(j.Violations, o.Violations...)
	return nil
}

// finish unites the violations of one bug. It keeps the one with the first point.
func (j *sweepJSON) finish(*app) (bad bool) {
	j.Shard, j.Work = "", ""
	slices.SortStableFunc(j.Violations, func(a, b foundJSON) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(*a.First, *b.First))
	})
	var united []foundJSON
	for _, v := range j.Violations {
		if i := slices.IndexFunc(united, v.sameBug); i >= 0 {
			united[i].Points += v.Points
		} else {
			united = append(united, v)
		}
	}
	j.Violations = append([]foundJSON{}, united...)
	return len(united) > 0 || allOpen(j.Undecided, j.Points)
}

func (f foundJSON) sameBug(other foundJSON) bool { return f.Bug == other.Bug }

// rank is greater for violations that do less harm.
func rank(f foundJSON) int {
	if hunt.Minor(f.Property) {
		return 1
	}
	return 0
}

func (j *fuzzJSON) merge(other mergeable) error {
	o, ok := other.(*fuzzJSON)
	if !ok {
		return errOtherReport
	}
	if err := sameWork(o.Workload+" "+o.Implementation, j.Workload+" "+j.Implementation); err != nil {
		return err
	}
	j.take(o)
	return nil
}

// take adds the report of a hunt in the same workload.
func (j *fuzzJSON) take(o *fuzzJSON) {
	switch {
	case j.Runs == 0:
		j.Goals, j.NeverCalled = o.Goals, o.NeverCalled
	case o.Runs > 0:
		for i := range min(len(j.Goals), len(o.Goals)) {
			j.Goals[i].Reached += o.Goals[i].Reached
		}
		j.NeverCalled = slices.DeleteFunc(j.NeverCalled, func(method string) bool {
			return !slices.Contains(o.NeverCalled, method)
		})
	}
	j.Runs += o.Runs
	j.Replayed += o.Replayed
	j.Traces += o.Traces
	j.Behaviours += o.Behaviours
	j.Undecided += o.Undecided
	j.Exhausted = j.Exhausted || o.Exhausted
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	addTo(j.Kept, o.Kept)
	addTo(j.Divergences, o.Divergences)
	j.Diverging = append(j.Diverging, o.Diverging...)
	j.Findings = append(j.Findings, o.Findings...)
}

// addTo adds a number of a report that may be absent.
func addTo(sum, n *int) {
	if sum != nil && n != nil {
		*sum += *n
	}
}

// finish keeps the first finding of each bug.
func (j *fuzzJSON) finish(*app) (bad bool) {
	j.Shard, j.Work = "", ""
	slices.SortStableFunc(j.Findings, func(a, b findingJSON) int {
		return cmp.Or(cmp.Compare(rank(a.foundJSON), rank(b.foundJSON)),
			cmp.Compare(a.Runs, b.Runs))
	})
	var first []findingJSON
	for _, f := range j.Findings {
		if !slices.ContainsFunc(first, func(known findingJSON) bool { return known.Bug == f.Bug }) {
			first = append(first, f)
		}
	}
	j.Findings = append([]findingJSON{}, first...)
	return j.bad()
}

func (j *huntsJSON) merge(other mergeable) error {
	o, ok := other.(*huntsJSON)
	if !ok {
		return errOtherReport
	}
	for _, h := range o.Hunts {
		i := slices.IndexFunc(j.Hunts, func(known fuzzJSON) bool {
			return known.Workload == h.Workload && known.Implementation == h.Implementation
		})
		if i < 0 {
			j.Hunts = append(j.Hunts, h)
		} else {
			j.Hunts[i].take(&h)
		}
	}
	j.Seconds += o.Seconds
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	return nil
}

// finish brings the hunts into the order of the workloads, and adds them up.
func (j *huntsJSON) finish(a *app) (bad bool) {
	place := func(h fuzzJSON) int {
		i := slices.IndexFunc(a.workloads, func(w scenario.Workload) bool {
			return w.Name == h.Workload && w.Impl == h.Implementation
		})
		return (i + len(a.workloads) + 1) % (len(a.workloads) + 1) // unknown ones come last
	}
	slices.SortStableFunc(j.Hunts, func(a, b fuzzJSON) int {
		return cmp.Compare(place(a), place(b))
	})
	sum := huntsJSON{
		LeftOut: j.LeftOut, Seconds: j.Seconds, Interrupted: j.Interrupted, Error: j.Error,
		Hunts: []fuzzJSON{}, Kept: zeroLike(j.Kept), Divergences: zeroLike(j.Divergences),
	}
	for _, h := range j.Hunts {
		bad = h.finish(a) || bad
		sum.add(h)
	}
	*j = sum
	return bad
}

// zeroLike is 0, or absent.
func zeroLike(n *int) *int {
	if n == nil {
		return nil
	}
	return new(int)
}

func (j *galleryJSON) merge(other mergeable) error {
	o, ok := other.(*galleryJSON)
	if !ok {
		return errOtherReport
	}
	j.Exhibits = append(j.Exhibits, o.Exhibits...)
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	return nil
}

// finish brings the exhibits into the order of the gallery.
func (j *galleryJSON) finish(*app) (bad bool) {
	j.Shard, j.Work = "", ""
	places := map[string]int{}
	for i, e := range gallery.Exhibits() {
		places[e.Slug] = i
	}
	slices.SortStableFunc(j.Exhibits, func(a, b exhibitJSON) int {
		return cmp.Compare(places[a.Slug], places[b.Slug])
	})
	return slices.ContainsFunc(j.Exhibits, func(e exhibitJSON) bool { return e.Found < e.Hunts })
}
