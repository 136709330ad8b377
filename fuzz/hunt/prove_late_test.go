package hunt

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestProofsTryWhatWasTooLate for each choice, and was then taken away: the end of a context, which
// is too late while another client has not begun.
func TestProofsTryWhatWasTooLate(t *testing.T) {
	t.Parallel()
	for _, made := range []string{"late", "made"} {
		for _, read := range []string{"", "c"} {
			p, err := Prove(t.Context(), tooLate(made, read), Bounds{})
			check.OK(t, err)
			check.Equal(t, p.Violation != nil, true, "%s, %q: %s", made, read, p)
		}
	}
}

// tooLate is a scenario of three clients. After a pause a makes a node, with a context that may end
// before the reply has come. Client b hears of the node, and reads another one. Client c writes
// into that one.
func tooLate(made, read string) scenario.Scenario {
	s := tiny("", "", "")
	s.Workload.Play = func(p *scenario.Player, _ scenario.Script) {
		conn := p.Conn()
		do := func(kind string, f func() (string, error)) {
			_ = p.Do(kind, "", func(context.Context) (r linearizability.Result, err error) {
				r.Output, err = f()
				return r, err
			})
		}
		switch p.Index() {
		case 0:
			p.Pause(95 * time.Millisecond)
			do("make", func() (string, error) { return makesInTime(p) })
		case 1:
			do(ops.Read, func() (string, error) {
				there, _, changed, err := conn.ExistsW("/e")
				if err != nil || there {
					return "too late to see it come", err
				}
				<-changed
				return tinyStep(p, "get", "/x")
			})
		case 2:
			_, _ = tinyStep(p, "put", "/x") // of which the judge knows nothing
		}
	}
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: linearizability.Safety}
		of := map[string]linearizability.Op{}
		for _, op := range e.History.Ops {
			of[op.Kind] = op
		}
		if of["make"].OK() && of["make"].Output == made && of[ops.Read].OK() &&
			of[ops.Read].Output == read {
			v.Status, v.Summary = linearizability.Violated, "it"
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	}
	return s
}

func makesInTime(p *scenario.Player) (string, error) {
	ctx, cancel := p.Within(p.Context(), 10*time.Millisecond)
	defer cancel()
	made := make(chan error, 1)
	go func() {
		_, err := tinyStep(p, "create", "/e")
		made <- err
	}()
	select {
	case <-ctx.Done():
		return "late", nil
	case err := <-made:
		return "made", err
	}
}
