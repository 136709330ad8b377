package conform

import (
	"context"
	"slices"
	"strings"
)

// maxShrinkRuns bounds the number of times that a shrinker plays a script.
const maxShrinkRuns = 400

// A shrinker shortens a script with a difference.
type shrinker struct {
	pair *pair
	best script
	diff *Difference // of best
	runs int
}

// shrink returns the difference of the shortest script found, starting from s and its difference.
func (p *pair) shrink(ctx context.Context, s script, diff *Difference) (*Difference, error) {
	sh := &shrinker{pair: p, best: s, diff: diff}
	for smaller := true; smaller && sh.runs < maxShrinkRuns; {
		length := len(sh.text())
		if err := sh.dropSteps(ctx); err != nil {
			return sh.diff, err
		}
		if err := sh.dropParts(ctx); err != nil {
			return sh.diff, err
		}
		smaller = len(sh.text()) < length
	}
	return sh.diff, nil
}

func (sh *shrinker) text() string {
	var b strings.Builder
	for _, s := range sh.best.steps {
		b.WriteString(s.text)
	}
	return b.String()
}

// try plays a script. If it differs, try keeps it up to the difference and returns true.
func (sh *shrinker) try(ctx context.Context, s script) (bool, error) {
	sh.runs++
	result, err := sh.pair.play(ctx, s)
	if err != nil || result.diff == nil {
		return false, err
	}
	s.steps = slices.Clone(s.steps[:result.reached])
	sh.best, sh.diff = s, result.diff
	return true, nil
}

// dropSteps tries to leave out steps, many at a time and then one by one, from the end.
func (sh *shrinker) dropSteps(ctx context.Context) error {
	for size := len(sh.best.steps) / 2; size > 0; size /= 2 {
		for from := len(sh.best.steps) - size; from >= 0 && sh.runs < maxShrinkRuns; from -= size {
			if from+size > len(sh.best.steps) { // the script has become shorter
				continue
			}
			s := sh.best
			s.steps = slices.Delete(slices.Clone(s.steps), from, from+size)
			if _, err := sh.try(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropParts tries to leave out parts of steps: operations of a multi or a burst, and
// arguments with a default.
func (sh *shrinker) dropParts(ctx context.Context) error {
	for i := len(sh.best.steps) - 1; i >= 0; i-- {
		if i >= len(sh.best.steps) {
			continue
		}
		for _, text := range smaller(sh.best.steps[i].text) {
			step, err := parseStep(text)
			if err != nil || sh.runs >= maxShrinkRuns {
				continue // the part is required
			}
			s := sh.best
			s.steps = slices.Clone(s.steps)
			s.steps[i] = step
			kept, err := sh.try(ctx, s)
			if err != nil {
				return err
			}
			if kept {
				break
			}
		}
	}
	return nil
}

// smaller lists the step's text without one of its parts. Some may not be valid steps.
func smaller(text string) []string {
	var list []string
	if before, inner, ok := strings.Cut(text, "{ "); ok {
		inner = strings.TrimSuffix(inner, " }")
		parts := strings.Split(inner, " ; ")
		for i := range parts {
			rest := slices.Delete(slices.Clone(parts), i, i+1)
			list = append(list, before+"{ "+strings.Join(rest, " ; ")+" }")
		}
	}
	words := strings.Split(text, " ")
	for i := 2; i < len(words); i++ {
		if strings.Contains(words[i], "=") || words[i] == "watch" {
			list = append(list, strings.Join(slices.Delete(slices.Clone(words), i, i+1), " "))
		}
	}
	return list
}
