package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// show plays the scenario file of a view and shows the run. The error is command.ErrViolated if the run is
// not as the file expects.
func (a *app) show(v show.View, out io.Writer) error {
	file, err := saved.Load(v.File, a.files.Find)
	if elsewhere, ok := errors.AsType[*saved.ElsewhereError](err); ok {
		return a.showByTest(elsewhere.Test, v, out)
	}
	if err != nil {
		return err
	}
	file.Scenario = file.Scenario.PlayedOn(a.on)
	r, err := a.check(file)
	if err != nil {
		return err
	}
	a.Progress.Clear()
	err = v.Show(a.Context, r, a.In, out)
	if len(r.Problems) > 0 && (err == nil || errors.Is(err, context.Canceled)) {
		err = command.ErrViolated
	}
	return err
}

// reach connects to the addresses of a flag, if it has any.
func (a *app) reach(servers *scenario.Servers) error {
	if err := servers.Reach(a.Context); err != nil {
		return fmt.Errorf("--servers: %w", err)
	}
	a.on = servers.On()
	return nil
}

// check plays a scenario file. An interrupt ends it at once, even if the run hangs; on a running
// ensemble it ends when the run has cleaned up.
func (a *app) check(f saved.File) (*saved.Replay, error) {
	if err := a.Context.Err(); err != nil {
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
	case <-a.Context.Done():
		if a.on != nil {
			<-played
		}
		return nil, a.Context.Err()
	}
}
