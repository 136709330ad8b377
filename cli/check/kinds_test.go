package check

import (
	"os"
	"slices"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestThePageListsTheKinds: docs/histories.md names every kind.
func TestThePageListsTheKinds(t *testing.T) {
	page, err := os.ReadFile("../../docs/histories.md")
	check.OK(t, err)
	for _, k := range kinds {
		check.Contains(t, string(page), "`"+k.name+"`")
	}
}

// TestSyntaxesAreOfKnownKinds: no entry of syntaxes has a kind, or a call, that does not exist.
func TestSyntaxesAreOfKnownKinds(t *testing.T) {
	for name, forms := range syntaxes {
		kind, err := findKind(name)
		check.OK(t, err)
		for _, s := range forms {
			check.Equal(t, slices.Contains(kind.calls, s.op), true, "%s of a %s", s.op, name)
		}
	}
}
