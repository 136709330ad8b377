package hunt

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/zksim/zksim/internal/mix"
)

// The proposers of scenarios that no strategy has proposed.
const (
	fromCorpus = "corpus"
	noStrategy = "no faults"
)

// resumed is the seed of a hunt that goes on from a corpus. It depends on the corpus, because with
// the same seed the strategies would propose the same scenarios again.
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

// replay plays the corpus, one generation after another, until enough was found.
func (h *huntRun) replay(ctx context.Context) error {
	for rest := h.Corpus; len(rest) > 0 && len(h.found.Findings) < h.enough; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var trials []trial
		for _, s := range rest[:min(generation, len(rest))] {
			trials = append(trials, trial{s, fromCorpus})
		}
		rest = rest[len(trials):]
		if err := h.play(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}
