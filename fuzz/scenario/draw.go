package scenario

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/zksim/zksim/internal/mix"
)

// Draws are the decisions of a [Player], fixed by the seed of the run.
type Draws struct {
	seed  uint64
	name  string                            // of the player
	of    [2]uint64                         // the numbers of the client and of its goroutine
	drawn func(player, label string, n int) // called with each draw; nil outside of tests
}

// Choose returns a number in [0,n), fixed by seed, client, goroutine and label. Each decision of a
// script needs its own label: two decisions with one label always have the same result. [At] makes
// the labels of a repeated decision.
func (d *Draws) Choose(label string, n int) int {
	d.note(label, n)
	h := mix.Hash(d.seed, d.of[0], d.of[1], hashOf(label))
	return int(h % uint64(n))
}

// Agree is Choose with the same result for all clients and goroutines of a run.
func (d *Draws) Agree(label string, n int) int {
	d.note(label, n)
	return agreed(d.seed, label, n)
}

// OfRun is Agree for a decision about the whole run. It may be called several times with one label.
func (d *Draws) OfRun(label string, n int) int { return agreed(d.seed, label, n) }

// PayloadLength is the length of the payloads of the run, at least 512, or 0 if it does not matter:
// in one of eight all are long.
func (d *Draws) PayloadLength() int { return payloadLength(d.seed) }

func payloadLength(seed uint64) int {
	if agreed(seed, "long payloads", 8) > 0 {
		return 0
	}
	return 512 << agreed(seed, "length", 7)
}

// frames is the length of the longest frame of a client: objects may wrap long payloads, and send
// several in one transaction. With the longest payloads it is that of a server.
func frames(seed uint64) int { return max(64<<10, 32*payloadLength(seed)) }

func agreed(seed uint64, label string, n int) int {
	return int(mix.Hash(seed, hashOf(label)) % uint64(n))
}

// At is the label of a repeated decision, with the numbers that identify it: At("kind", 3) is
// kind[3], the kind of round 3.
func At(label string, numbers ...int) string {
	var text strings.Builder
	text.WriteString(label)
	for _, n := range numbers {
		fmt.Fprintf(&text, "[%d]", n)
	}
	return text.String()
}

func (d *Draws) note(label string, n int) {
	if d.drawn != nil {
		d.drawn(d.name, label, n)
	}
}

func hashOf(label string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(label))
	return h.Sum64()
}
