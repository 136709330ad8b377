package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Hunts is the result of the hunts in all workloads, for programs.
type Hunts struct {
	Shard
	Hunts []Hunt `json:"hunts"`
	// LeftOut are the workloads that cannot play the script.
	LeftOut []string `json:"left_out"`
	// NotJudged are the workloads that can violate no property of --property.
	NotJudged []string `json:"not_judged,omitempty"`
	// NotReached are the workloads whose turn had not come when the hunts were ended early.
	NotReached  []string `json:"not_reached,omitempty"`
	Runs        int      `json:"runs"`
	Replayed    int      `json:"replayed"`
	Kept        *int     `json:"kept,omitempty"`
	Seconds     float64  `json:"seconds"` // of hunting alone
	Traces      int      `json:"traces"`
	Behaviours  int      `json:"behaviours"`
	Findings    int      `json:"findings"`
	Undecided   int      `json:"undecided"`
	Divergences *int     `json:"divergences,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Error       string   `json:"error,omitempty"` // that ended the hunts early
}

// Add adds the result of a hunt.
func (j *Hunts) Add(h Hunt) {
	j.Hunts = append(j.Hunts, h)
	j.Runs += h.Runs
	j.Replayed += h.Replayed
	j.Traces += h.Traces
	j.Behaviours += h.Behaviours
	j.Findings += len(h.Findings)
	j.Undecided += h.Undecided
	if h.Kept != nil {
		*j.Kept += *h.Kept
	}
	if h.Divergences != nil {
		*j.Divergences += *h.Divergences
	}
}

// Bad reports whether a hunt has found a violation or a divergence, or could decide nothing.
func (j Hunts) Bad() bool { return slices.ContainsFunc(j.Hunts, Hunt.Bad) }

// String is the total in one line.
func (j Hunts) String() string {
	text := fmt.Sprintf("total of %s: %s, %.0f/s, %s, %s, %s, %d undecided",
		command.Plural(len(j.Hunts), "workload"), Tried(j.Runs, j.Replayed),
		float64(j.Runs+j.Replayed)/max(j.Seconds, 1e-9), command.Plural(j.Traces, "trace"),
		command.Plural(j.Behaviours, "behaviour"), command.Plural(j.Findings, "finding"), j.Undecided)
	if j.Kept != nil {
		text += fmt.Sprintf(", %d kept", *j.Kept)
	}
	if j.Divergences != nil {
		text += ", " + command.Plural(*j.Divergences, "divergence")
	}
	text += command.EndText(j.Interrupted, j.Error)
	if n := len(j.NotReached); n > 0 {
		text += fmt.Sprintf("\nnot reached: %s: %s", command.Plural(n, "workload"),
			strings.Join(j.NotReached, ", "))
	}
	if n := len(j.LeftOut); n > 0 {
		text += fmt.Sprintf("\nleft out, as their objects are not for several goroutines: %s",
			command.Plural(n, "workload"))
	}
	if n := len(j.NotJudged); n > 0 {
		text += fmt.Sprintf("\nleft out, as they cannot violate a property of --property: %s",
			command.Plural(n, "workload"))
	}
	return text
}

func (j *Hunts) merge(other mergeable) error {
	o, ok := other.(*Hunts)
	if !ok {
		return errOtherReport
	}
	for _, h := range o.Hunts {
		i := slices.IndexFunc(j.Hunts, func(known Hunt) bool {
			return known.Workload == h.Workload && known.Implementation == h.Implementation
		})
		if i < 0 {
			j.Hunts = append(j.Hunts, h)
		} else {
			j.Hunts[i].take(&h)
		}
	}
	j.NotReached = slices.Compact(slices.Sorted(slices.Values(
		append(j.NotReached, o.NotReached...))))
	j.Seconds += o.Seconds
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	return nil
}

// finish brings the hunts into the order of the workloads, and adds them up.
func (j *Hunts) finish(workloads scenario.Catalogue) (bad bool) {
	place := func(h Hunt) int {
		i := slices.IndexFunc(workloads, func(w scenario.Workload) bool {
			return w.Name == h.Workload && w.Impl == h.Implementation
		})
		return (i + len(workloads) + 1) % (len(workloads) + 1) // unknown ones come last
	}
	slices.SortStableFunc(j.Hunts, func(a, b Hunt) int {
		return cmp.Compare(place(a), place(b))
	})
	sum := Hunts{
		Shard:   j.united(),
		LeftOut: j.LeftOut, NotJudged: j.NotJudged, NotReached: j.NotReached,
		Seconds: j.Seconds, Interrupted: j.Interrupted,
		Error: j.Error, Hunts: []Hunt{}, Kept: zeroLike(j.Kept),
		Divergences: zeroLike(j.Divergences),
	}
	for _, h := range j.Hunts {
		bad = h.finish(workloads) || bad
		sum.Add(h)
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
