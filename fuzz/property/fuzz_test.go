package property_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/property"
	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

// FuzzAnnouncer is a fuzz target of a right service.
func FuzzAnnouncer(f *testing.F) {
	dice := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		f.Add(draws(dice))
	}
	f.Fuzz(property.MakeFuzz(announces(false)))
}

// draws are bytes for the draws of a check.
func draws(dice *rand.Rand) []byte {
	input := make([]byte, 1<<14)
	for i := range input {
		input[i] = byte(dice.Uint32())
	}
	return input
}

// TestAFuzzTargetPlaysTheBody in a World with drawn faults, once for each input, and equal inputs
// mean equal draws.
func TestAFuzzTargetPlaysTheBody(t *testing.T) {
	var drawn []string
	target := property.MakeFuzz(func(rt *rapid.T, w *property.World) {
		drawn = append(drawn, rapid.StringN(5, 5, -1).Draw(rt, "word"))
		w.Tree("/")
	})
	dice := rand.New(rand.NewPCG(1, 1))
	one, two := draws(dice), draws(dice)
	for _, input := range [][]byte{one, one, two} {
		target(t, input)
	}
	check.Equal(t, len(drawn), 3, "bodies")
	check.Equal(t, drawn[0], drawn[1], "the same bytes")
	check.Equal(t, drawn[1] == drawn[2], false, "other bytes have the same draws")
}

// TestAnActionMayFail: its error is in the story of a later failure, and is none by itself.
func TestAnActionMayFail(t *testing.T) {
	quick(t)
	body := func(broken bool) func(*rapid.T, *property.World) {
		return func(rt *rapid.T, w *property.World) {
			w.MayFail(func(*rapid.T) error {
				_, _, err := w.Conn("a").Get("/none")
				return err
			})(rt)
			w.MayFail(func(*rapid.T) error { return nil })(rt)
			if broken {
				rt.Fatal(errors.New("it is broken"))
			}
		}
	}
	property.Check(t, body(false))
	out := failing(t, body(true))
	check.Contains(t, out, "it is broken")
	check.Contains(t, out, "an action fails: "+zk.ErrNoNode.Error())
	check.Equal(t, strings.Count(story(out), "an action fails"), 1, "notes in the story")
}
