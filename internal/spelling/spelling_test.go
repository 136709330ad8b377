package spelling_test

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/spelling"
)

func TestNearNamesAreMeant(t *testing.T) {
	names := []string{"drop-request", "drop-reply", "cut", "expire", "lag"}
	for wrong, want := range map[string]string{
		"drop-replay":  "drop-reply",   // one too many
		"drop-reqest":  "drop-request", // one too few
		"drop-requets": "drop-request", // two swapped
		"drpo-rpely":   "drop-reply",
		"expier":       "expire",
		"cot":          "cut",
		"ct":           "", // one change is much of two letters
		"gal":          "", // two are much of three
		"drop":         "",
		"":             "",
		"разрыв":       "",
	} {
		suggested := spelling.Meant(wrong, names)
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		check.Equal(t, suggested, want, "for %q", wrong)
	}
	check.Equal(t, spelling.Meant("cut", nil), "", "without names")
}

func TestNearestComeFirst(t *testing.T) {
	near := spelling.Nearest("lok", []string{"barrier", "lock", "clock", "block"}, 3)
	check.Equal(t, strings.Join(near, " "), "lock clock block", "equally near ones in their order")
	near = spelling.Nearest("lok", []string{"lock"}, 3)
	check.Equal(t, strings.Join(near, " "), "lock", "three of one name")
}
