package sim

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestLockersTakeTurns(t *testing.T) {
	r, err := World{Seed: 1, Clients: lockers(3, 2)}.Run()
	check.OK(t, err)
	if len(r.Busy)+len(r.Panics) > 0 || r.Leaked+r.Frozen != "" {
		t.Fatalf("busy %v panics %v leaked %s frozen %s\n%s", r.Busy, r.Panics, r.Leaked, r.Frozen,
			r.Trace)
	}
	text := r.Trace.String()
	if got := strings.Count(text, "unlock: <nil>"); got != 6 ||
		strings.Contains(text, "lock failed") {
		t.Errorf("%d of 6 rounds\n%s", got, text)
	}
	holder := ""
	for n := range int64(r.Trace.Len()) {
		switch words := strings.Fields(r.Trace.Line(n + 1)); words[3] {
		case "locked":
			check.Equal(t, holder, "", "the holder when %s locks\n%s", words[2], text)
			holder = words[2]
		case "deleted":
			holder = ""
		}
	}
}
