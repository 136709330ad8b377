package report

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// Gallery is the result of the command for programs.
type Gallery struct {
	Shard
	Exhibits    []Exhibit `json:"exhibits"`
	Interrupted bool      `json:"interrupted"`
	Error       string    `json:"error,omitempty"` // that has ended it early
}

// Exhibit is the result of the hunts for an exhibit. Hunts is the number of completed hunts,
// which is less than requested if the command has ended early. Seconds and Runs are medians over
// the hunts that have found the bug; Worst is the longest time of these hunts. If two values are in
// the middle, the median time is their mean, and the median count the larger one. Minimal is the
// most common minimal scenario, or the first of several such. Same is the number of hunts that
// found it.
type Exhibit struct {
	Slug     string        `json:"slug"`
	Alias    string        `json:"alias,omitempty"`
	Kind     string        `json:"kind"`
	Title    string        `json:"title"`
	Source   string        `json:"source"`
	Link     string        `json:"link,omitempty"`
	Remark   string        `json:"remark,omitempty"`
	See      []string      `json:"see,omitempty"`
	Bug      string        `json:"bug,omitempty"`
	Property string        `json:"property"`
	Hunts    int           `json:"hunts"`
	Found    int           `json:"found"`
	Seconds  float64       `json:"seconds"`
	Worst    float64       `json:"worst_seconds"`
	Runs     int           `json:"runs"`
	Faults   int           `json:"faults"`
	Clients  int           `json:"clients"`
	Same     int           `json:"same"`
	Minimal  *show.Outcome `json:"minimal,omitempty"`
	Repeat   string        `json:"repeat,omitempty"`
}

func (j *Gallery) merge(other mergeable) error {
	o, ok := other.(*Gallery)
	if !ok {
		return errOtherReport
	}
	j.Exhibits = append(j.Exhibits, o.Exhibits...)
	j.Interrupted = j.Interrupted || o.Interrupted
	j.Error = cmp.Or(j.Error, o.Error)
	return nil
}

// finish brings the exhibits into the order of the gallery.
func (j *Gallery) finish(scenario.Catalogue) (bad bool) {
	j.Shard = j.united()
	places := map[string]int{}
	for i, e := range gallery.Exhibits() {
		places[e.Slug] = i
	}
	slices.SortStableFunc(j.Exhibits, func(a, b Exhibit) int {
		return cmp.Compare(places[a.Slug], places[b.Slug])
	})
	return slices.ContainsFunc(j.Exhibits, func(e Exhibit) bool { return e.Found < e.Hunts })
}
