package picture

import "regexp"

// The kinds of lines that are folded.
const (
	foldPing       = "ping"
	foldRefused    = "refused dial"
	foldRepetition = "repetition"
)

// longestCycle bounds the lines that are compared with the next ones: those of one attempt.
// fewestRepeats is how often they must come again to be folded.
const longestCycle, fewestRepeats = 24, 3

// numbers are the parts in which a line differs from its repetition.
var numbers = regexp.MustCompile(`#\d+|\bzxid -?\d+|G\d+|^dial \d+|^connection \d+|connection \d+`)

// foldRepetitions marks the lines of each actor that only repeat the lines before them. Lines that
// are folded already do not count, and lines with a meaning of their own are never folded.
func foldRepetitions(lines []line, own map[int64]bool) {
	byActor := map[string][]int{}
	shapes := make([]string, len(lines))
	for i, l := range lines {
		if l.Fold == "" {
			byActor[l.Actor] = append(byActor[l.Actor], i)
			shapes[i] = numbers.ReplaceAllString(l.Text, "")
		}
	}
	for _, of := range byActor {
		for from := 0; from < len(of); {
			cycle, repeats := repetition(of[from:], shapes, own)
			if repeats < fewestRepeats {
				from++
				continue
			}
			for _, i := range of[from+cycle : from+cycle*(repeats+1)] {
				lines[i].Fold = foldRepetition
			}
			from += cycle * (repeats + 1)
		}
	}
}

// repetition is the shortest cycle at the beginning of an actor's lines that is repeated often, and
// how often it is.
func repetition(of []int, shapes []string, own map[int64]bool) (cycle, repeats int) {
	for cycle = 1; cycle <= min(longestCycle, len(of)/(fewestRepeats+1)); cycle++ {
		same := 0
		for same+cycle < len(of) && shapes[of[same]] == shapes[of[same+cycle]] &&
			!own[int64(of[same+cycle])+1] {
			same++
		}
		if repeats = same / cycle; repeats >= fewestRepeats {
			return cycle, repeats
		}
	}
	return 0, 0
}
