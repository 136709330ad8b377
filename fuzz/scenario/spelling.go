package scenario

import (
	"cmp"
	"fmt"
	"slices"
)

// meant asks for the name that is nearest to a wrong one. It is "" if that takes more than two
// changes of a letter, or more than one for each three letters.
func meant(wrong string, names []string) string {
	for _, name := range nearest(wrong, names, 1) {
		if changes(wrong, name) <= min(2, len(wrong)/3) {
			return fmt.Sprintf(" (did you mean %s?)", name)
		}
	}
	return ""
}

// nearest are the n names that take the fewest changes of a letter to become a name, the nearest
// first.
func nearest(name string, names []string, n int) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(changes(name, a), changes(name, b))
	})
	return sorted[:min(n, len(sorted))]
}

// changes is the number of letters to insert, delete or replace between two names (Levenshtein).
func changes(a, b string) int {
	row := make([]int, len(b)+1) // the changes from the letters of a so far to each start of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
