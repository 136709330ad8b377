package report

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// Sweep is a sweep for programs.
type Sweep struct {
	Shard
	Workload       string      `json:"workload"`
	Implementation string      `json:"implementation"`
	Points         int         `json:"points"`
	Known          int         `json:"known"`
	Survived       int         `json:"survived"`
	Undecided      int         `json:"undecided"`
	Missed         int         `json:"missed"`
	Total          int         `json:"total"`
	Judged         hunt.Judged `json:"judged"`
	Interrupted    bool        `json:"interrupted"`
	Error          string      `json:"error,omitempty"` // that ended the sweep early
	Violations     []Violation `json:"violations"`
}

// Violation is a violation for programs.
type Violation struct {
	Property string `json:"property"`
	// Bug is the same text for all violations of one bug.
	Bug string `json:"bug"`
	// First is the number, from 0, of the first of the points among all points of the sweep.
	First   *int         `json:"first,omitempty"`
	Points  int          `json:"points"` // number of fault points that violate it
	Minimal show.Outcome `json:"minimal"`
	// Maker is the place in the code that made the znode to blame.
	Maker string `json:"maker,omitempty"`
	// Unfinished says that Minimal may not be as small as possible: the search for it was
	// interrupted or cut off.
	Unfinished bool `json:"unfinished,omitempty"`
	// Unsteady says that not each run of Minimal violates Property.
	Unsteady bool   `json:"unsteady,omitempty"`
	File     string `json:"file,omitempty"`
	Picture  string `json:"picture,omitempty"`
	// Repeat is the command that plays File.
	Repeat string `json:"repeat,omitempty"`
}

func (j *Sweep) merge(other mergeable) error {
	o, ok := other.(*Sweep)
	if !ok {
		return errOtherReport
	}
	if err := hunt.SameWork(o.Workload+" "+o.Implementation, j.Workload+" "+j.Implementation); err != nil {
		return err
	}
	err := hunt.SameWork(command.Plural(o.Total, "point"), command.Plural(j.Total, "point"))
	if err != nil {
		return err
	}
	if j.Total == 0 { // each shard has found the violation without any fault
		return nil
	}
	j.Points += o.Points
	j.Known += o.Known
	j.Survived += o.Survived
	j.Undecided += o.Undecided
	j.Missed += o.Missed
	j.Judged = j.Judged.Plus(o.Judged)
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	j.Violations = append(j.Violations, o.Violations...)
	return nil
}

// finish unites the violations of one bug. It keeps the one with the first point.
func (j *Sweep) finish(scenario.Catalogue) (bad bool) {
	j.Shard = j.united()
	slices.SortStableFunc(j.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(*a.First, *b.First))
	})
	var united []Violation
	for _, v := range j.Violations {
		if i := slices.IndexFunc(united, v.sameBug); i >= 0 {
			united[i].Points += v.Points
		} else {
			united = append(united, v)
		}
	}
	j.Violations = append([]Violation{}, united...)
	return len(united) > 0 || AllOpen(j.Undecided, j.Points)
}

func (f Violation) sameBug(other Violation) bool { return f.Bug == other.Bug }

// rank is greater for violations that do less harm.
func rank(f Violation) int {
	if hunt.Minor(f.Property) {
		return 1
	}
	return 0
}
