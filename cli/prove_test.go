package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestOwnCodeMayLookAtCountsOfChildren: only for our own there is a promise that it does not.
func TestOwnCodeMayLookAtCountsOfChildren(t *testing.T) {
	t.Parallel()
	counts := scenario.Workload{Name: "counts", Impl: "mine", Nodes: map[string]string{"/x": ""},
		Play: func(p *scenario.Player, _ scenario.Script) {
			p.Do("count", "", func(context.Context) (r linearizability.Result, err error) {
				_, stat, err := p.Conn().Exists("/x")
				if err == nil {
					r.Output = strconv.Itoa(int(stat.NumChildren))
				}
				return r, err
			})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "nothing hidden",
			Holds: func(e scenario.Evidence) error {
				for _, op := range e.History.Ops {
					if op.OK() && op.Output != "0" {
						return errors.New(op.Output)
					}
				}
				return nil
			}}),
	}
	e := zksim(t.Context(), "prove counts --faults 0 --clients 1", counts)
	e.has(t, 0, "counts mine: holds: ")
	check.Equal(t, strings.Contains(e.stdout, "hidden"), false, "%s", e.stdout)
}

// TestTheMostViewsAreALowerBound of how many runs differ for some client.
func TestTheMostViewsAreALowerBound(t *testing.T) {
	check.Equal(t, viewsText(hunt.MostViews), "at least 1,048,576")
	check.Equal(t, viewsText(hunt.MostViews-1), "1048575")
}

// TestNoRecipeLooksAtCountsOfChildren, as zksim prove promises; see hunt.Bounds. The one exhibit
// that does shows it in each run.
func TestNoRecipeLooksAtCountsOfChildren(t *testing.T) {
	t.Parallel()
	looks := regexp.MustCompile(`\.(NumChildren|Cversion|Pzxid)\b`)
	files := 0
	for _, dir := range []string{"recipes", "fuzz/builtin", "fuzz/gallery", "fuzz/object"} {
		root := filepath.Join("..", dir)
		err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				filepath.Base(name) == "retry_planted.go" {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			if found := looks.Find(text); found != nil {
				t.Errorf("%s has %s", name, found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files were read; expected some hundred", files)
	}
}
