package hunt

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// A frontier is what is left to try, with what was found before, as a file. Of a tree it has the
// ways of its walkers, and what was tried and is to be tried at each of the choices. The rest is
// found again when a way is gone anew.
type frontier struct {
	Work     string       `json:"work"`
	Counts   countsOnFile `json:"counts"`
	Units    int          `json:"units"`
	Unclear  int          `json:"unclear"`
	Counted  bool         `json:"counted"` // see Proof.Counts
	Seen     basis        `json:"seen"`
	Unknown  *runOnFile   `json:"unknown,omitempty"` // the first undecided one
	Planned  []string     `json:"planned"`
	Trees    []treeOnFile `json:"trees"`
	ViewsHad []uint64     `json:"views"`
}

type countsOnFile struct {
	Runs      int `json:"runs"`
	Classes   int `json:"classes"`
	Redundant int `json:"redundant"`
	Plans     int `json:"plans"`
	Tried     int `json:"tried"`
	Undecided int `json:"undecided"`
}

type runOnFile struct {
	Plan     []string `json:"plan"`
	Schedule string   `json:"schedule"`
}

type treeOnFile struct {
	Plan     []string       `json:"plan"`
	Counts   bool           `json:"counts"`
	Choices  []choiceOnFile `json:"choices,omitempty"`
	Walkers  []walkerOnFile `json:"walkers"`
	Requests map[string]int `json:"requests,omitempty"`
	Events   map[string]int `json:"events,omitempty"`

	Instants map[time.Duration]bool `json:"instants,omitempty"`
}

type choiceOnFile struct {
	Known  uint64     `json:"known"`
	Event  int        `json:"event"`
	Asleep []sleeping `json:"asleep,omitempty"`
	Said   []said     `json:"said"`
	Try    []int      `json:"try"`
	Tried  []int      `json:"tried"`
}

type walkerOnFile struct {
	Due   bool     `json:"due"`
	Steps [][2]int `json:"steps"` // the number of the choice, and what comes there
}

// save writes what is left to try, or removes the file if nothing is.
func (p *prover) save() error {
	name := p.Bounds.Resume
	if name == "" {
		return nil
	}
	if p.Complete {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(p.frontier())
	if err != nil {
		return err
	}
	return saved.WriteWhole(name, text)
}

func (p *prover) frontier() frontier {
	f := frontier{
		Work: p.Bounds.Work, Units: p.units, Unclear: p.unclear, Counted: p.Proof.Counts,
		Counts:   countsOnFile{p.Runs, p.Classes, p.Redundant, p.Plans, p.Tried, p.Undecided},
		Seen:     p.seen,
		Planned:  slices.Sorted(maps.Keys(p.planned)),
		ViewsHad: slices.Sorted(maps.Keys(p.views)),
	}
	if o := p.FirstUndecided; o != nil {
		f.Unknown = &runOnFile{planLines(o.Scenario.Plan), o.Scenario.Schedule.String()}
	}
	for _, t := range p.trees {
		f.Trees = append(f.Trees, t.onFile())
	}
	return f
}

func (t *tree) onFile() treeOnFile {
	on := treeOnFile{Plan: planLines(t.plan), Counts: t.counts, Requests: t.requests,
		Events: t.events, Instants: t.instants}
	numbers := map[*choice]int{}
	for _, w := range t.walkers {
		way := walkerOnFile{Due: w.due}
		for _, c := range w.steps {
			if _, known := numbers[c.choice]; !known {
				numbers[c.choice] = len(numbers)
				on.Choices = append(on.Choices,
					choiceOnFile{c.hash(), c.event, c.asleep, c.said, c.try, c.tried})
			}
			way.Steps = append(way.Steps, [2]int{numbers[c.choice], c.picked})
		}
		on.Walkers = append(on.Walkers, way)
	}
	return on
}

// goOnFrom gives a tree the walkers that are on file.
func (t *tree) goOnFrom(on treeOnFile) {
	maps.Copy(t.requests, on.Requests)
	maps.Copy(t.events, on.Events)
	maps.Copy(t.instants, on.Instants)
	t.walkers = nil
	var choices []*choice
	for _, c := range on.Choices {
		choices = append(choices, &choice{known: c.Known, event: c.Event, asleep: c.Asleep,
			said: c.Said, try: c.Try, tried: c.Tried})
	}
	for _, way := range on.Walkers {
		w := &walker{walk: t.walk, due: way.Due}
		for _, s := range way.Steps {
			w.steps = append(w.steps, step{choices[s[0]], s[1]})
		}
		if n := len(w.steps); n > 0 {
			w.steps[n-1].young = true
		}
		t.walkers = append(t.walkers, w)
	}
}

// resume begins the proof, with the file of what is left if there is one.
func (p *prover) resume() error {
	text, err := os.ReadFile(p.Bounds.Resume)
	switch {
	case p.Bounds.Resume == "" || errors.Is(err, fs.ErrNotExist):
		p.plan(nil)
		return nil
	case err != nil:
		return err
	}
	var f frontier
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("expected a file that zksim prove has written: %w", err)
	}
	if err := SameWork(f.Work, p.Bounds.Work); err != nil {
		return err
	}
	return p.goOnFrom(f)
}

func (p *prover) goOnFrom(f frontier) error {
	c := f.Counts
	p.Runs, p.Classes, p.Redundant, p.Undecided = c.Runs, c.Classes, c.Redundant, c.Undecided
	p.Plans, p.Tried, p.units, p.unclear = c.Plans, c.Tried, f.Units, f.Unclear
	p.Proof.Counts, p.seen = f.Counted, f.Seen
	for _, name := range f.Planned {
		p.planned[name] = true
	}
	for _, view := range f.ViewsHad {
		p.views[view] = true
	}
	p.Views = len(p.views)
	for _, on := range f.Trees {
		plan, err := parsePlan(on.Plan)
		if err != nil {
			return err
		}
		t := p.newTree(plan, on.Counts)
		t.goOnFrom(on)
		p.trees = append(p.trees, t)
	}
	p.calm = p.unclear > 0 && len(p.trees) > 0 && len(p.trees[0].plan) > 0
	if f.Unknown == nil {
		return nil
	}
	undecided, err := p.playAgain(*f.Unknown)
	p.FirstUndecided = undecided
	return err
}

func (p *prover) playAgain(r runOnFile) (*scenario.Outcome, error) {
	plan, err := parsePlan(r.Plan)
	if err != nil {
		return nil, err
	}
	s := p.Scenario
	s.Plan = plan
	if s.Schedule, err = sim.ParseSchedule(r.Schedule); err != nil {
		return nil, err
	}
	return saved.Play(s)
}

func planLines(plan []fault.Fault) (lines []string) {
	for _, f := range plan {
		lines = append(lines, f.String())
	}
	return lines
}

func parsePlan(lines []string) (plan []fault.Fault, err error) {
	for _, line := range lines {
		f, err := fault.Parse(line)
		if err != nil {
			return nil, err
		}
		plan = append(plan, f)
	}
	return plan, nil
}

// hash is that of the things of a choice.
func (c *choice) hash() uint64 {
	if c.things == nil {
		return c.known
	}
	return hashOfThings(c.things)
}

func hashOfThings(things []trace.Thing) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", things)
	return h.Sum64()
}

// complete gives a choice of a file its things, if they are those of before.
func (w *walker) complete(c *choice, t trace.Turn) {
	w.filling.Lock()
	defer w.filling.Unlock()
	if c.things == nil && hashOfThings(t.Things) == c.known && len(c.said) == len(t.Things) {
		c.things = t.Things
	}
}

// SameWork returns an error if the text of some work is another than that of the first. A semicolon
// stands between its parts, and the error names those that differ.
func SameWork(of, first string) error {
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
