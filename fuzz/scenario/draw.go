package scenario

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/zksim/zksim/internal/mix"
)

// Choose returns a number in [0,n), fixed by seed, client, goroutine and label. Each decision of a
// script needs its own label: two decisions with one label always have the same result. [At] makes
// the labels of a repeated decision.
func (p *Player) Choose(label string, n int) int {
	p.noteDraw(label, n)
	h := mix.Hash(p.seed, uint64(p.index), uint64(p.client.Number()), hashOf(label))
	return int(h % uint64(n))
}

// Agree is Choose with the same result for all clients and goroutines of a run.
func (p *Player) Agree(label string, n int) int {
	p.noteDraw(label, n)
	return agreed(p.seed, label, n)
}

// OfRun is Agree for a decision about the whole run. It may be called several times with one label.
func (p *Player) OfRun(label string, n int) int { return agreed(p.seed, label, n) }

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

func (p *Player) noteDraw(label string, n int) {
	if p.drawn != nil {
		p.drawn(p, label, n)
	}
}

func hashOf(label string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(label))
	return h.Sum64()
}
