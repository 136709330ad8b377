package hunt

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/zksim/zksim/fuzz/internal/mix"
)

// Who proposes the scenarios of a hunt that no strategy does.
const (
	fromCorpus = "corpus"
	noStrategy = "no faults"
)

// resumed is the seed of a hunt that goes on from a corpus: it depends on the corpus
// too, as the strategies would otherwise propose once more what they proposed when it
// was collected.
func (h Hunt) resumed() uint64 {
	if len(h.Corpus) == 0 {
		return h.Seed
	}
	d := fnv.New64a()
	for _, s := range h.Corpus {
		fmt.Fprintln(d, s, s.Plan) // never fails
	}
	return mix.Hash(h.Seed, d.Sum64())
}

// replay plays the corpus, a generation at a time, until enough was found.
func (p *pursuit) replay(ctx context.Context) error {
	for rest := p.Corpus; len(rest) > 0 && len(p.found.Findings) < p.enough; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var trials []trial
		for _, s := range rest[:min(generation, len(rest))] {
			trials = append(trials, trial{s, fromCorpus})
		}
		rest = rest[len(trials):]
		if err := p.play(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}
