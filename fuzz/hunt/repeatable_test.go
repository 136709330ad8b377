package hunt

import (
	"strings"
	"testing"
)

// TestDivergesAdvisesZksimGoOnlyWhoDoesNotUseIt.
func TestDivergesAdvisesZksimGoOnlyWhoDoesNotUseIt(t *testing.T) {
	for _, overlaid := range []bool{false, true} {
		text := diverges("test", overlaid)
		if advises := strings.Contains(text, "zksim go test"); advises == overlaid {
			t.Errorf("in a program of zksim go: %v: %s", overlaid, text)
		}
	}
}
