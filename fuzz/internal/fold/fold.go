// Package fold finds the lines of a trace that only repeat the lines before them.
package fold

import "strings"

// Shape is the text of a line without the numbers in which it differs from its repetition: those of
// requests, transactions, GUIDs, dials and connections, with the words before them.
func Shape(text string) string {
	var shape []byte
	kept := 0 // the text up to here is in the shape
	for i := 0; i < len(text); {
		n := numbered(text, i)
		if n == 0 {
			i++
			continue
		}
		shape = append(shape, text[kept:i]...)
		i += n
		kept = i
	}
	if kept == 0 {
		return text
	}
	return string(append(shape, text[kept:]...))
}

// numbered is the length of the number at an offset with the word before it, 0 if there is none. A
// regular expression would take ten times as long, and hunts compare many stories.
func numbered(text string, at int) int {
	var before string
	switch text[at] {
	case '#', 'G':
		before = text[at : at+1]
	case 'z':
		before = "zxid "
	case 'c':
		before = "connection "
	case 'd':
		before = "dial "
		if at > 0 {
			return 0
		}
	default:
		return 0
	}
	rest, ok := strings.CutPrefix(text[at:], before)
	if !ok || len(before) > 1 && at > 0 && isWord(text[at-1]) {
		return 0
	}
	if before == "zxid " {
		rest = strings.TrimPrefix(rest, "-")
	}
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0
	}
	return len(text) - at - len(rest) + digits
}

// isWord reports whether a character continues a word.
func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

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
