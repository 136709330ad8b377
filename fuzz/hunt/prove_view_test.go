package hunt

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestViewsNameWhatARunHasNamed by the order in which the client meets it, and have no numbers of
// the run.
func TestViewsNameWhatARunHasNamed(t *testing.T) {
	v := view{names: map[string]int{}}
	for _, line := range []string{
		"-> #1 create /lock/_c_G3-lock-: ok, zxid 12",
		"gets G3, token 7, zxid x, of S21",
		"-> #2 get /G3x, /xG3, /S_1 of S21, G4: ok",
		"-> #3 setWatches since zxid 4: data [/x]: ok",
	} {
		v.add(line)
	}
	check.Equal(t, v.text.String(), "-> #1 create /lock/_c_G1-lock-: ok\n"+
		"gets G1, zxid x, of S2\n"+
		"-> #2 get /G3x, /xG3, /S_1 of S2, G3: ok\n"+
		"-> #3 setWatches: data [/x]: ok\n")
}
