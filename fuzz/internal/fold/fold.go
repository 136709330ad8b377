// Package fold finds the lines of a trace that only repeat the lines before them.
package fold

import "regexp"

// numbers are the parts in which a line differs from its repetition.
var numbers = regexp.MustCompile(`#\d+|\bzxid -?\d+|G\d+|^dial \d+|\bconnection \d+`)

// Shape is the text of a line without the numbers in which it differs from its repetition.
func Shape(text string) string { return numbers.ReplaceAllString(text, "") }

// A Cycle is a sequence of lines that comes again.
type Cycle struct {
	From, Len int // the first line, and the number of lines
	Repeats   int // how often the lines come again, right behind one another
}

// fewest is how often lines must come again to be a cycle.
const fewest = 3

// Cycles finds the cycles of at most longest lines among lines 0 to n-1. At each line the shortest
// cycle is taken. again says that line j repeats line i.
func Cycles(n, longest int, again func(i, j int) bool) []Cycle {
	var cycles []Cycle
	for from := 0; from < n; {
		c, found := cycleAt(from, n, longest, again)
		if !found {
			from++
			continue
		}
		cycles = append(cycles, c)
		from += c.Len * (c.Repeats + 1)
	}
	return cycles
}

func cycleAt(from, n, longest int, again func(i, j int) bool) (Cycle, bool) {
	for length := 1; length <= min(longest, (n-from)/(fewest+1)); length++ {
		end := from + length
		for end < n && again(end-length, end) {
			end++
		}
		if repeats := (end - from - length) / length; repeats >= fewest {
			return Cycle{From: from, Len: length, Repeats: repeats}, true
		}
	}
	return Cycle{}, false
}
