package hunt

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
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

// Distil plays the scenarios of one or several corpora, the plainest first, and hands those to keep
// that show behaviour which none before has shown. An error of keep ends it, and ctx does.
func Distil(
	ctx context.Context, corpus []scenario.Scenario, keep func(*scenario.Outcome) error,
) error {
	corpus = slices.Clone(corpus)
	slices.SortStableFunc(corpus, func(a, b scenario.Scenario) int {
		return cmp.Or(cmp.Compare(len(a.Plan), len(b.Plan)),
			cmp.Compare(a.Script.Clients*a.Script.Rounds, b.Script.Clients*b.Script.Rounds))
	})
	type shown struct {
		workload, impl string
		behaviour      uint64
	}
	known := map[shown]bool{}
	for ; len(corpus) > 0; corpus = corpus[min(generation, len(corpus)):] {
		next := corpus[:min(generation, len(corpus))]
		outcomes := make([]played, len(next))
		parallel(ctx, len(next), 0, func(i int) bool {
			outcomes[i] = playOne(next[i], false)
			return outcomes[i].err == nil
		})
		for _, r := range outcomes {
			if err := cmp.Or(r.err, ctx.Err()); err != nil {
				return err
			}
			fresh, w := false, r.outcome.Scenario.Workload
			for _, b := range behaviours(r.outcome) {
				key := shown{w.Name, w.Impl, b}
				fresh = fresh || !known[key]
				known[key] = true
			}
			if fresh {
				if err := keep(r.outcome); err != nil {
					return err
				}
			}
		}
	}
	return nil
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
