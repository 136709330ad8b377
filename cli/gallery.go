package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/show"
)

type galleryCommand struct {
	Names    []string  `arg:"" optional:"" name:"name" help:"Exhibits, by slug or old id, such as vanished-predecessor or S4-23; all with a story without any."`
	Seeds    int       `help:"Hunt each exhibit with so many seeds, from --seed on." default:"1"`
	Seed     uint64    `help:"First seed of the hunts." default:"1"`
	Runs     int       `help:"Give a hunt up after so many scenarios." default:"3000"`
	Strategy []string  `help:"Strategies to hunt with, as zksim list shows them (default: all, each with its share)." placeholder:"NAME"`
	HTML     string    `name:"html" help:"Directory to draw the smallest scenarios in, as HTML pages." placeholder:"DIR"`
	Story    bool      `help:"Print each bug and the story of its smallest scenario."`
	Absent   bool      `help:"List the bugs that cannot be shown, or those of them that are named, and why, instead of hunting."`
	List     bool      `help:"List the exhibits, or those that are named, instead of hunting; without names the planted ones, too."`
	Shard    hunt.Part `help:"The part of this process in work that N processes do: I/N; zksim merge unites their reports." env:"ZKSIM_SHARD" placeholder:"I/N"`
	JSON     bool      `help:"Print JSON."`

	counts []int     // of scenarios, of each successful hunt
	times  []float64 // in seconds, of each successful hunt
}

// settings are the flags that decide what the hunts are, with their values.
func (c *galleryCommand) settings() string {
	return fmt.Sprintf("exhibits=%v; --seeds=%v; --seed=%v; --runs=%v; --strategy=%v",
		c.Names, c.Seeds, c.Seed, c.Runs, c.Strategy)
}

func (c *galleryCommand) Run(env *command.Env, line *kong.Context) error {
	c.Names = once(c.Names)
	if c.Absent {
		if err := withoutHunts(line); err != nil {
			return err
		}
		return c.listAbsent(env)
	}
	if err := notShown(c.Names); err != nil {
		return err
	}
	if c.List {
		return c.list(env)
	}
	exhibits, err := gallery.Named(c.Names...)
	if err != nil {
		return err
	}
	if c.Seeds < 1 {
		return fmt.Errorf("--seeds: %d; expected 1 or more", c.Seeds)
	}
	if c.Runs < 1 {
		return fmt.Errorf("--runs: %d; expected 1 or more", c.Runs)
	}
	if err := hunt.CheckStrategies(c.Strategy); err != nil {
		return err
	}
	if err := command.CheckDir("--html", c.HTML); err != nil {
		return err
	}
	var own []gallery.Exhibit
	for i, e := range exhibits {
		if c.Shard.Has(i) {
			own = append(own, e)
		}
	}
	return c.hunt(env, own)
}

// list lists the named exhibits; without names it lists all.
func (c *galleryCommand) list(env *command.Env) error {
	exhibits := gallery.Exhibits()
	if len(c.Names) > 0 {
		var err error
		if exhibits, err = gallery.Named(c.Names...); err != nil {
			return err
		}
	}
	if c.JSON {
		list := []report.Exhibit{}
		for _, e := range exhibits {
			list = append(list, entryOf(e, nil))
		}
		return env.JSON(list)
	}
	published := 0
	for _, e := range exhibits {
		env.Printf("%-56s %-6s %-8s %-15s %s\n", e.Slug, e.Alias, e.Source, e.Property, e.Title)
		if e.Published() {
			published++
		}
	}
	env.Printf("\n%s, %d of them published\n", command.Plural(len(exhibits), "exhibit"), published)
	return nil
}

// once returns each id once, in the order of first mention.
func once(ids []string) []string {
	var named []string
	for _, id := range ids {
		if !slices.ContainsFunc(named, func(before string) bool {
			return strings.EqualFold(before, id)
		}) {
			named = append(named, id)
		}
	}
	return named
}

// hunt hunts one exhibit after the other and prints the result of each.
func (c *galleryCommand) hunt(env *command.Env, exhibits []gallery.Exhibit) error {
	result := report.Gallery{
		Shard: report.ShardOf(c.Shard, c.settings()), Exhibits: []report.Exhibit{},
	}
	if !c.JSON {
		env.Printf(galleryRow, "bug", "violates", "found in", "runs", "faults", "clients",
			"what is wrong")
	}
	missed := 0
	var ended error
	for i, e := range exhibits {
		var hunts []gallery.Hunted
		about := fmt.Sprintf("%s: exhibit %d of %d", e.Slug, i+1, len(exhibits))
		hunts, ended = c.huntOne(env, e, about)
		if len(hunts) > 0 {
			j := entryOf(e, hunts)
			j.Repeat = env.Call + " gallery " + e.Slug
			result.Exhibits = append(result.Exhibits, j)
			if j.Found < j.Hunts {
				missed++
			}
			if !c.JSON {
				c.print(env, j, hunts)
			}
			if err := c.draw(env, hunts); err != nil {
				return err
			}
		}
		if ended != nil {
			break
		}
	}
	result.Interrupted, result.Error = env.EndedBy(ended)
	if err := c.end(env, result, len(exhibits), missed); err != nil {
		return err
	}
	return env.Ending(missed > 0, ended)
}

// draw draws the most common minimal scenario of an exhibit.
func (c *galleryCommand) draw(env *command.Env, hunts []gallery.Hunted) error {
	best, _ := commonest(hunts)
	if !best.Found() {
		return nil
	}
	_, err := findings{env, "", c.HTML, c.JSON}.draw(best.Minimal, "")
	return err
}

// end prints the lines after the last exhibit.
func (c *galleryCommand) end(env *command.Env, result report.Gallery, of, missed int) error {
	if c.JSON {
		return env.JSON(result)
	}
	end := command.EndText(result.Interrupted, result.Error)
	if end != "" {
		end += fmt.Sprintf(": %d of %d tried", len(result.Exhibits), of)
	}
	env.Printf("\n%d of %s found%s\n", len(result.Exhibits)-missed, command.Plural(of, "exhibit"), end)
	if n := len(c.counts); n > 0 {
		slices.Sort(c.counts)
		slices.Sort(c.times)
		env.Printf("until a bug was found, in the median of %s, nine of ten and at most:\n",
			command.Plural(n, "hunt"))
		env.Printf("  %d, %d and %d scenarios", c.counts[n/2], c.counts[n*9/10], c.counts[n-1])
		if low := c.counts[(n-1)/2]; low < c.counts[n/2] {
			env.Printf(" (the median is the larger of %d and %d)", low, c.counts[n/2])
		}
		env.Printf("\n  %.2f s, %.2f s and %.2f s\n", middle(c.times), c.times[n*9/10], c.times[n-1])
	}
	return nil
}

// huntOne hunts one exhibit with each seed. about is the beginning of the line of
// progress. After an error or an interrupt it returns the completed hunts.
func (c *galleryCommand) huntOne(
	env *command.Env, e gallery.Exhibit, about string,
) ([]gallery.Hunted, error) {
	var hunts []gallery.Hunted
	for n := range c.Seeds {
		hunt := fmt.Sprintf("%s, hunt %d of %d", about, n+1, c.Seeds)
		env.Progress.Phase("%s", hunt)
		h, err := e.Find(env.Context, c.Seed+uint64(n), c.Runs, c.Strategy...)
		if h.Found() {
			env.Progress.Phase("%s: making it small after %s", hunt, command.Plural(h.Runs, "scenario"))
		}
		if err == nil {
			err = h.Shrink(env.Context)
		}
		if err != nil {
			return hunts, err
		}
		hunts = append(hunts, h)
		if h.Found() {
			c.counts = append(c.counts, h.Runs)
			c.times = append(c.times, h.Took.Seconds())
		}
	}
	return hunts, nil
}

// commonest returns a hunt with the most common minimal scenario, and the number of hunts with that
// scenario. If no hunt has found anything, it returns one of them, and 0.
func commonest(hunts []gallery.Hunted) (best gallery.Hunted, same int) {
	counts := map[string]int{}
	name := func(h gallery.Hunted) string {
		return fmt.Sprint(h.Minimal.Scenario, h.Minimal.Scenario.Plan)
	}
	for _, h := range hunts {
		if h.Found() {
			counts[name(h)]++
		}
	}
	for _, h := range hunts {
		if h.Found() && counts[name(h)] > same {
			best, same = h, counts[name(h)]
		}
	}
	return best, same
}

func entryOf(e gallery.Exhibit, hunts []gallery.Hunted) report.Exhibit {
	j := report.Exhibit{
		Slug: e.Slug, Alias: e.Alias, Kind: e.Kind, Title: e.Title,
		Source: string(e.Source), Link: e.Link,
		Remark: e.Remark, See: e.See, Bug: e.Bug, Property: e.Property, Hunts: len(hunts)}
	var times []float64
	var runs []int
	for _, h := range hunts {
		if h.Found() {
			times, runs = append(times, h.Took.Seconds()), append(runs, h.Runs)
		}
	}
	if j.Found = len(runs); j.Found == 0 {
		return j
	}
	slices.Sort(times)
	slices.Sort(runs)
	j.Seconds, j.Runs = middle(times), runs[len(runs)/2]
	j.Worst = times[len(times)-1]
	best, same := commonest(hunts)
	minimal := show.OutcomeOf(best.Minimal)
	j.Faults, j.Clients, j.Same, j.Minimal = len(minimal.Plan), minimal.Clients, same, &minimal
	return j
}

// middle is the median of at least one sorted number.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// galleryRow is a row of the table.
const galleryRow = "%-32s %-10s %8s %5s %6s %7s  %s\n"

func (c *galleryCommand) print(env *command.Env, j report.Exhibit, hunts []gallery.Hunted) {
	title := j.Title
	if j.Same < j.Found {
		title = fmt.Sprintf("%s (%d of %s end in this scenario)", title, j.Same,
			command.Plural(j.Found, "hunt"))
	}
	if j.Found < j.Hunts {
		title = fmt.Sprintf("%s (NOT FOUND in %d of %s)", title, j.Hunts-j.Found,
			command.Plural(j.Hunts, "hunt"))
	}
	if j.Hunts < c.Seeds {
		title = fmt.Sprintf("%s (only %d of %s)", title, j.Hunts, command.Plural(c.Seeds, "hunt"))
	}
	if j.Found == 0 {
		env.Printf(galleryRow, j.Slug, j.Property, "-", "-", "-", "-", title)
	} else {
		env.Printf(galleryRow, j.Slug, j.Property, fmt.Sprintf("%.2f s", j.Seconds),
			fmt.Sprint(j.Runs), fmt.Sprint(j.Faults), fmt.Sprint(j.Clients), title)
	}
	source := strings.Join([]string{j.Alias, j.Source, j.Link}, " ")
	env.Printf("%6s %s\n", "", strings.TrimSpace(source))
	if c.Story {
		if j.Bug != "" {
			env.Printf("\n%s", command.Indent(j.Bug))
		}
		if j.Remark != "" {
			env.Printf("  %s\n", j.Remark)
		}
		if len(j.See) > 0 {
			env.Printf("  Other bugs with the same cause, by old id or by name, have no exhibit of "+
				"their own: %s.\n", strings.Join(j.See, "; "))
		}
		if best, _ := commonest(hunts); best.Found() {
			env.Printf("\n%s", command.Indent(best.Minimal.Story()))
		}
		env.Printf("\n")
	}
}
