package picture

import "github.com/zksim/zksim/fuzz/internal/fold"

// The kinds of lines that are folded.
const (
	foldPing       = "ping"
	foldRefused    = "refused dial"
	foldRepetition = "repetition"
	foldNoEvent    = "other line"
	foldOwn        = "own line"
)

// longestCycle bounds the lines that are compared with the next ones: those of one attempt.
const longestCycle = 24

// foldRepetitions marks the lines of each actor that only repeat the lines before them. Lines that
// are folded already do not count, and lines with a meaning of their own are never folded.
func foldRepetitions(lines []line, own map[int64]bool) {
	byActor := map[string][]int{}
	shapes := make([]string, len(lines))
	for i, l := range lines {
		if l.Fold == "" {
			byActor[l.Actor] = append(byActor[l.Actor], i)
			shapes[i] = fold.Shape(l.Text)
		}
	}
	for _, of := range byActor {
		cycles := fold.Cycles(len(of), longestCycle, func(i, j int) bool {
			return shapes[of[i]] == shapes[of[j]] && !own[int64(of[j])+1]
		})
		for _, c := range cycles {
			for _, i := range of[c.From+c.Len : c.From+c.Len*(c.Repeats+1)] {
				lines[i].Fold = foldRepetition
			}
		}
	}
}
