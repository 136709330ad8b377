// Package spelling finds the name that somebody has meant.
package spelling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Meant asks for the name that is nearest to a wrong one. It is "" if that takes more than two
// changes of a letter, or more than one for each three letters.
func Meant(wrong string, names []string) string {
	for _, name := range Nearest(wrong, names, 1) {
		if changes(wrong, name) <= min(2, len(wrong)/3) {
			return fmt.Sprintf(" (did you mean %s?)", name)
		}
	}
	return ""
}

// Variables returns an error that names the variables of an environment that are none of the known
// ones, but nearly one of them.
func Variables(environ, known []string) (wrong error) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		meant := Meant(name, known)
		if value != "" && meant != "" && !slices.Contains(known, name) {
			wrong = errors.Join(wrong, fmt.Errorf("%s is not known%s", name, meant))
		}
	}
	return wrong
}

// Nearest are the n names that take the fewest changes of a letter to become a name, the nearest
// first.
func Nearest(name string, names []string, n int) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(changes(name, a), changes(name, b))
	})
	return sorted[:min(n, len(sorted))]
}

// changes is the number of letters to insert, delete, replace or swap with the next one between two
// names.
func changes(a, b string) int {
	rows := make([][]int, len(a)+1) // the changes from each start of a to each start of b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
