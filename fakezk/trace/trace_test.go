package trace

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestWhatIsRenamedMayBe: the quick test lets all pass that the expression matches.
func TestWhatIsRenamedMayBe(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                          false,
		"exists /lock/n-0000000001":                 false,
		"get 0x by deadbee-f":                       true, // and is not
		"session 0x100000000001 has ended":          true,
		"/_c_" + strings.Repeat("a7", 16):           true,
		"/" + strings.Repeat("a7", 15) + "a/":       false,
		"/n-00c0ffee-1234-5678-9abc-0123456789ab-n": true,
	} {
		check.Equal(t, mayBeRenamed(text), want, "%q", text)
		if Renamable.MatchString(text) && !want {
			t.Errorf("%q is not renamed", text)
		}
	}
}
