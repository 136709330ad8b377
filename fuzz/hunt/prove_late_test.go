package hunt

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
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
// into that one, of which the judge knows nothing.
func tooLate(made, read string) scenario.Scenario {
	s := rare([]any{code(makesInTime)}, []any{code(readsBehindIt)},
		func(a, b []linearizability.Op) bool {
			return a[0].Output == made && b[0].Output == read
		})
	s.Script.Clients = 3
	two := s.Workload.Play
	s.Workload.Play = func(p *scenario.Player, script scenario.Script) {
		if p.Index() < 2 {
			two(p, script)
			return
		}
		_, _ = tinyStep(p, "put", "/x")
	}
	return s
}

func makesInTime(p *scenario.Player) string {
	p.Pause(95 * time.Millisecond)
	ctx, cancel := p.Within(p.Context(), 10*time.Millisecond)
	defer cancel()
	made := make(chan error, 1)
	go func() {
		_, err := tinyStep(p, "create", "/e")
		made <- err
	}()
	select {
	case <-ctx.Done():
		return "late"
	case err := <-made:
		if err != nil {
			return err.Error()
		}
		return "made"
	}
}

func readsBehindIt(p *scenario.Player) string {
	there, _, changed, err := p.Conn().ExistsW("/e")
	if err != nil || there {
		return "too late to see it come"
	}
	<-changed
	value, err := tinyStep(p, "get", "/x")
	if err != nil {
		return err.Error()
	}
	return value
}
