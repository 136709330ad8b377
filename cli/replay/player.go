package replay

import (
	"context"
	"errors"
	"io"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// A Player plays scenario files, and shows the runs.
type Player struct {
	*command.Env
	find  func(workload, impl string) (scenario.Workload, error)
	tests testPrograms
}

// NewPlayer is a player of files with the workloads that find finds, or that a test knows.
func NewPlayer(
	env *command.Env, find func(workload, impl string) (scenario.Workload, error),
) *Player {
	return &Player{
		Env: env, find: find,
		tests: testPrograms{Env: env, built: map[saved.Test]testProgram{}},
	}
}

// show plays the scenario file of a view and shows the run. The error is command.ErrViolated if the
// run is not as the file expects.
func (p *Player) show(v show.View, out io.Writer) error {
	file, err := saved.Load(v.File, p.find)
	if elsewhere := (*saved.ElsewhereError)(nil); errors.As(err, &elsewhere) {
		return p.tests.show(elsewhere.Test, v, out)
	}
	if err != nil {
		return err
	}
	file.Scenario = file.Scenario.PlayedOn(p.On)
	r, err := p.play(file)
	if err != nil {
		return err
	}
	p.Progress.Clear()
	err = v.Show(p.Context, r, p.In, out)
	if len(r.Problems) > 0 && (err == nil || errors.Is(err, context.Canceled)) {
		err = command.ErrViolated
	}
	return err
}

// play plays a scenario file. An interrupt ends it at once, even if the run hangs; on a running
// ensemble it ends when the run has cleaned up.
func (p *Player) play(f saved.File) (*saved.Replay, error) {
	if err := p.Context.Err(); err != nil {
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
	case <-p.Context.Done():
		if p.On != nil {
			<-played
		}
		return nil, p.Context.Err()
	}
}
