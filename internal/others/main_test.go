package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk"
)

// TestKazooLosesAnElementWithTheReply plays with a genuine library: its Queue gets
// and deletes, and takes the next element when the reply to the delete is lost.
func TestKazooLosesAnElementWithTheReply(t *testing.T) {
	c := newCrew(&libraries[0], ".", 1)
	defer c.stop()
	queue := libraryRecipe(t, c.library, "Queue")
	ctx := context.Background()
	for _, p := range []struct {
		point point
		bad   string
	}{
		{point{}, ""},
		{point{fakezk.DropRequest, "b", "delete", 1}, ""},
		{point{fakezk.DropReply, "b", "delete", 1}, "delivery: a0 was offered, is not in the queue, and nobody got it"},
	} {
		out, err := c.workers[0].play(ctx, queue, p.point, patience)
		if errors.Is(err, errMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out.bad != p.bad {
			t.Errorf("%s: %q; expected %q\n%s", p.point, out.bad, p.bad, strings.Join(out.story, "\n"))
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
		"^zksim/recipes.Lock$": "zksim recipes.Lock: survived 81 of 81 fault points, 0 of them flaky\n",
		"^zksim/zk.Lock$":      "zksim zk.Lock: survived 39 of 63 fault points, 0 of them flaky\n",
	} {
		var out bytes.Buffer
		if err := measure(t.Context(), &out, &out, []string{"-run", only}); err != nil || out.String() != want {
			t.Errorf("it says %q, %v; expected %q", out.String(), err, want)
		}
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-workers", "0"}, {"-run", "("}, {"-fast"}} {
		var out bytes.Buffer
		if err := measure(t.Context(), &out, &out, args); err == nil {
			t.Errorf("%q was taken; expected an error", args)
		}
	}
}
