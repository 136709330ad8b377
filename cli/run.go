package cli

import (
	"github.com/zksim/zksim/fuzz/saved"
)

type runCommand struct {
	Files []string `arg:"" name:"file" help:"Scenario files."`
	JSON  bool     `help:"Print JSON."`
}

// replayedJSON is the run of a scenario file, for programs.
type replayedJSON struct {
	File     string      `json:"file"`
	AsExpect bool        `json:"as_expected"`
	Problems []string    `json:"problems"`
	Outcome  outcomeJSON `json:"outcome"`
}

// replayedOf is a run for programs.
func replayedOf(name string, r *saved.Replay) replayedJSON {
	return replayedJSON{
		name, len(r.Problems) == 0, append([]string{}, r.Problems...), outcomeOf(r.Outcome),
	}
}

// Run reads all files before it runs the first one.
func (c *runCommand) Run(a *app) error {
	files := make([]saved.File, len(c.Files))
	for i, name := range c.Files {
		var err error
		if files[i], err = saved.Load(name, a.files.Find); err != nil {
			return err
		}
	}
	return c.run(a, files)
}

// run runs scenario files and compares them with their expectations.
func (c *runCommand) run(a *app, files []saved.File) error {
	bad := false
	all := []replayedJSON{}
	var interrupted error
	for i, file := range files {
		r, err := a.check(file)
		if a.interrupted(err) {
			interrupted = err
			break
		}
		if err != nil {
			return err
		}
		bad = bad || len(r.Problems) > 0
		if c.JSON {
			all = append(all, replayedOf(c.Files[i], r))
		} else {
			a.printReplay(c.Files[i], r)
		}
		a.progress.show("%d of %d files", i+1, len(files))
	}
	if c.JSON {
		if err := a.json(all); err != nil {
			return err
		}
	}
	if bad {
		return errViolated
	}
	return interrupted
}

// check plays a scenario file. An interrupt ends it at once, even if the run hangs.
func (a *app) check(f saved.File) (*saved.Replay, error) {
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	type result struct {
		replay *saved.Replay
		err    error
	}
	played := make(chan result, 1)
	go func() {
		r, err := f.Check(true)
		played <- result{r, err}
	}()
	select {
	case r := <-played:
		return r.replay, r.err
	case <-a.ctx.Done():
		return nil, a.ctx.Err()
	}
}

// printReplay prints a line about the run of a scenario file, or one for each problem.
func (a *app) printReplay(name string, r *saved.Replay) {
	if len(r.Problems) == 0 {
		text := "ok"
		if p := r.Outcome.Property(); p != "" {
			text = p + " is violated, as expected"
		}
		a.printf("%s: %s\n", name, text)
		return
	}
	for _, p := range r.Problems {
		a.printf("%s: NOT AS EXPECTED: %s\n", name, p)
	}
}
