package trace

import (
	"fmt"
	"math/rand/v2"
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

// TestRenamesWhatTheExpressionMatches, and nothing else.
func TestRenamesWhatTheExpressionMatches(t *testing.T) {
	text, dashed := strings.Repeat("a7", 16), "00c0ffee-1234-5678-9abc-0123456789ab"
	parts := []string{"", "0x", "0", "x", "-", "/n-", "_c_", "Z", "f", dashed, dashed[:20], text, text[:12],
		text[:16], text[:8], "0x100000000001", "exists /lock/n-0000000001", "0xdeadbeef"}
	matched := 0
	for n := range 20_000 {
		draw, s := rand.New(rand.NewPCG(uint64(n), 0)), ""
		for range 1 + draw.IntN(5) {
			s += parts[draw.IntN(len(parts))]
		}
		fresh := func() *texts { return &texts{names: map[string]string{}, count: map[byte]int{}} }
		by := fresh()
		want := Renamable.ReplaceAllStringFunc(s, by.name)
		check.Equal(t, fresh().rename(s), want, "%q", s)
		if want != s {
			matched++
		}
	}
	check.Equal(t, matched > 1000, true, "%d texts matched", matched)
}
