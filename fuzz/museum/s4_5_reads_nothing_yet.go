package museum

import (
	"context"
	"fmt"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func readsNothingYet() Exhibit {
	return Exhibit{
		ID: "S4-5", Title: "asked before it has read",
		Report: curatorCaches,
		Bug: "The cache is started in the background, and asked at once. It has read nothing yet, and answers that there is " +
			"nothing: a setting that has been there for years counts as missing.",
		Property: scenario.InvariantProperty,
		Wrong:    settingOf(func(*mirror, context.Context) error { return nil }), // wrong: it has read nothing
		Right:    settingOf((*mirror).Ready),
	}
}

// settingOf is a workload of caches that are started to look a setting up.
func settingOf(ready func(*mirror, context.Context) error) scenario.Workload {
	w := mirrorOf(nil)
	w.Nodes = map[string]string{mirrored: "1"}
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			m := openMirror(p.Conn(), nil)
			_ = p.Do(ops.Look, "", func(ctx context.Context) (linearizability.Result, error) {
				if err := ready(m, ctx); err != nil {
					return linearizability.Result{}, err
				}
				nodes := m.Nodes()
				return linearizability.Result{Empty: len(nodes) == 0}, nil
			})
			m.close()
		}
	}
	return judgedBy(w, "what is there is found", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			if op.Empty {
				return fmt.Errorf("%s found nothing at step %d", op.Client, op.Return)
			}
		}
		return nil
	})
}
