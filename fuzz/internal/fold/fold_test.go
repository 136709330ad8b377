package fold

import (
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

// numbers are what Shape leaves out.
var numbers = regexp.MustCompile(`#\d+|\bzxid -?\d+|G\d+|^dial \d+|\bconnection \d+`)

func TestShapeLeavesTheNumbersOut(t *testing.T) {
	parts := rapid.SampledFrom([]string{"#", "G", "zxid", "dial", "connection", " ", "-", "_", "x",
		"7", "12", "/", "é", "zxid 3", "dial 1", "connection 2"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(parts).Draw(rt, "parts"), "")
		check.Equal(rt, Shape(text), numbers.ReplaceAllString(text, ""), "%q", text)
	})
}

func TestCycles(t *testing.T) {
	tests := []struct {
		name, lines string
		want        []Cycle
	}{
		{"nothing", "", nil},
		{"too few repeats", "aaab", nil},
		{"one line", "xaaaay", []Cycle{{From: 1, Len: 1, Repeats: 3}}},
		{"the shortest cycle", "abababab", []Cycle{{From: 0, Len: 2, Repeats: 3}}},
		{"a rest", "ababababa", []Cycle{{From: 0, Len: 2, Repeats: 3}}},
		{"two cycles", "aaaabcbcbcbcbc", []Cycle{{0, 1, 3}, {4, 2, 4}}},
		{"longer than the longest", strings.Repeat("abcd", 4), nil},
	}
	for _, test := range tests {
		got := Cycles(len(test.lines), 3, func(i, j int) bool {
			return test.lines[i] == test.lines[j]
		})
		check.List(t, got, test.want, test.name)
	}
}

func TestShape(t *testing.T) {
	a, b := "-> #12 create /a -> zxid 9 by G3", "-> #7 create /a -> zxid 41 by G5"
	check.Equal(t, Shape(a), Shape(b), "two attempts of one call")
	if Shape("getData /a1") == Shape("getData /a2") {
		t.Error("two paths have one shape")
	}
}
