package property

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/inflight"
)

// A Check keeps a note of the check under way, in the directory of the notes of package fuzz. If
// the code under test ends the process, the note stays. It has rapid's seed: all that rapid draws
// in a process depends on it and on the fail files. The next process plays with the same seed, and
// so it ends in the same check, or the code is mended.

// notesDir is the directory of the notes of all tests of a package.
var notesDir = filepath.Join("testdata", "zksim")

// note is what is known of a check under way.
type note struct {
	Property  string        `json:"property"` // the name of the test
	RapidSeed string        `json:"rapid.seed"`
	Check     int           `json:"check"`
	WorldSeed uint64        `json:"world_seed"`
	Servers   int           `json:"servers"`
	Plan      []fault.Fault `json:"plan"`
}

func (n note) text() []byte {
	text, err := json.Marshal(n)
	if err != nil {
		return nil // strings and numbers only: it cannot fail
	}
	return text
}

// parseNote reads a note; ok is false if the text is another one.
func parseNote(text []byte) (n note, ok bool) {
	ok = json.Unmarshal(text, &n) == nil && n.Property != "" && n.RapidSeed != ""
	return n, ok
}

const seedFlag = "rapid.seed"

// rapidSeed is the seed with which rapid draws in this process.
func rapidSeed() string { return flag.Lookup(seedFlag).Value.String() }

// replays reports whether package fuzz replays a scenario file.
func replays() bool { return isSet("zksim.replay") }

// fuzzes reports whether Go's fuzzer looks for inputs.
func fuzzes() bool { return isSet("test.fuzz") }

// isSet reports whether a flag with a text is there and has one.
func isSet(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != ""
}

// init gives the process a seed of rapid that is known: that of an earlier process that has ended
// in a check, or one that is drawn. rapid would draw one itself, and tell nobody. The flag and the
// variable of the user, which rapid has read already, go before.
func init() {
	f := flag.Lookup(seedFlag)
	if f == nil || f.Value.String() != "0" {
		return
	}
	seed := strconv.FormatUint(rand.Uint64N(1<<63)+1, 10)
	_, _ = inflight.Take(notesDir, func(text []byte) bool { // only looks
		if n, ok := parseNote(text); ok {
			seed = n.RapidSeed
		}
		return false
	})
	_ = flag.Set(seedFlag, seed) // a number: it cannot fail
}

// takeNotes removes the notes of ended processes about a test, and says on standard error what they
// say. Any other output would be lost if this process ended, too.
func takeNotes(test string) error {
	_, err := inflight.Take(notesDir, func(text []byte) bool {
		n, ok := parseNote(text)
		if !ok || n.Property != test {
			return false
		}
		fmt.Fprintf(os.Stderr, "zksim: an earlier process of %s ended in check %d with -%s=%s; if "+
			"this process ends there, too, it is this check that ends it: %s\n", test, n.Check,
			seedFlag, n.RapidSeed, text)
		return true
	})
	return err
}

// keepNotes keeps notes of the checks of a test until stop is called. A test in a directory that
// cannot be written to has none.
func keepNotes(test string) (stop func()) {
	if takeNotes(test) != nil {
		return func() {}
	}
	stop, err := inflight.KeepAnnounced(notesDir)
	if err != nil {
		return func() {}
	}
	return stop
}

// noteOf is a note of a run that begins.
func (c *checker) noteOf(p *played) func() []byte {
	return func() []byte {
		return note{c.name, rapidSeed(), c.checks, p.seed, p.servers,
			p.plan}.text()
	}
}
