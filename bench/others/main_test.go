package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// TestOthersLoseAnElementWithTheReply plays with the real libraries, where they are installed:
// their queues get and delete, and take the next element when the reply to the delete is lost.
func TestOthersLoseAnElementWithTheReply(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program in Java")
	}
	for i, name := range []string{"Queue", "SimpleDistributedQueue"} {
		l := &libraries[i]
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			check.OK(t, os.CopyFS(dir, drivers))
			c := newGroup(l, dir, 1)
			defer c.stop()
			losesAnElement(t, c.workers[0], libraryRecipe(t, l, name))
		})
	}
}

func losesAnElement(t *testing.T, w *worker, queue *recipe) {
	for _, p := range []struct {
		point point
		bad   string
	}{
		{point{}, ""},
		{point{fault.DropReply, "b", "getData", 1}, ""},
		{point{fault.DropReply, "b", "delete", 1},
			"delivery: a0 was offered, is not in the queue, and nobody got it"},
	} {
		out, err := w.play(t.Context(), queue, p.point, confirmPatience)
		if errors.Is(err, errMissing) {
			t.Skip(err)
		}
		check.OK(t, err)
		if out.bad != p.bad {
			t.Errorf("%s: %q; expected %q\n%s", p.point, out.bad, p.bad,
				strings.Join(out.story, "\n"))
		}
		if p.point.kind != "" && !out.fired {
			t.Errorf("%s: the request never came", p.point)
		}
	}
}

func libraryRecipe(t *testing.T, l *library, name string) *recipe {
	t.Helper()
	for i := range l.recipes {
		if l.recipes[i].name == name {
			return &l.recipes[i]
		}
	}
	t.Fatalf("%s has no recipe %s", l.name, name)
	return nil
}

// TestOwnLockSurvivesAndTheClientsDoesNot: the sweep in a World, and its control.
func TestOwnLockSurvivesAndTheClientsDoesNot(t *testing.T) {
	for only, want := range map[string]string{
		"^zksim/recipes.Lock$": "zksim recipes.Lock: survived 81 of 81",
		"^zksim/zk.Lock$":      "zksim zk.Lock: survived 39 of 63",
	} {
		want += " fault points, 0 of them flaky\n"
		var out bytes.Buffer
		err := execute(t.Context(), &out, &out, []string{"--run", only})
		if err != nil || out.String() != want {
			t.Errorf("it says %q, %v; expected %q", out.String(), err, want)
		}
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--workers", "0"}, {"--run", "("}, {"--fast"}} {
		var out bytes.Buffer
		if err := execute(t.Context(), &out, &out, args); err == nil {
			t.Errorf("%q was taken; expected an error", args)
		}
	}
}
