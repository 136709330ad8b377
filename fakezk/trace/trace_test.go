package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestEntryIsALineOfColumns(t *testing.T) {
	for _, e := range []Entry{
		{},
		{Step: 7, Time: 1500 * time.Microsecond, Actor: "a", Text: "calls lock"},
		{Step: 123456, Time: 1234567 * time.Second, Actor: "a-long-name", Text: "ends\nhere"},
		{Step: -1, Time: -time.Second, Actor: "é", Text: "x"},
	} {
		want := fmt.Sprintf("%5d %12.6fs  %-8s %s", e.Step, e.Time.Seconds(), e.Actor, e.Text)
		check.Equal(t, e.String(), want, "%#v", e)
	}
}

func TestTracesAreEqualIfTheirTextsAre(t *testing.T) {
	line := func(time time.Duration, actor, text string) Trace {
		return New([]Line{{Time: time, Actor: actor, Format: "%s", Args: []any{text}}})
	}
	one := line(time.Second, "a", "session 0x100000000001")
	for _, c := range []struct {
		other Trace
		want  bool
	}{
		{line(time.Second, "a", "session 0x200000000002"), true}, // S1 in both
		{line(time.Second+1, "a", "session 0x100000000001"), true},
		{line(2*time.Second, "a", "session 0x100000000001"), false},
		{line(time.Second, "b", "session 0x100000000001"), false},
		{line(time.Second, "a", "no session"), false},
		{New(nil), false},
	} {
		check.Equal(t, one.Equal(c.other), c.want, "%s", c.other)
		check.Equal(t, one.String() == c.other.String(), c.want, "%s", c.other)
	}
}

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
