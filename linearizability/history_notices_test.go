package linearizability

import (
	"testing"
	"time"
)

// TestAPauseCutsOffForItsTime only, and does not end a loss.
func TestAPauseCutsOffForItsTime(t *testing.T) {
	const second = time.Second
	at := func(n int, kind NoticeKind) Notice {
		return Notice{Client: "a", Step: int64(n), Time: time.Duration(n) * second, Kind: kind}
	}
	paused := []Notice{at(1, Connected), at(3, Paused), at(4, Paused), at(5, Resumed),
		at(7, Resumed)}
	lost := []Notice{at(1, Connected), at(2, Paused), at(3, Disconnected), at(5, Resumed),
		at(7, Connected)}
	for _, c := range []struct {
		notices []Notice
		client  string
		at      int
		want    bool
	}{
		{paused, "a", 2, false}, {paused, "a", 4, true}, {paused, "a", 6, true},
		{paused, "a", 8, false}, {paused, "b", 4, false}, {paused[1:], "a", 6, true},
		{lost, "a", 6, true}, {lost, "a", 8, false},
	} {
		h := History{Notices: c.notices}
		if got := CutOff(h, c.client, time.Duration(c.at)*second+1); got != c.want {
			t.Errorf("%v: %s at %d s: %t", c.notices, c.client, c.at, got)
		}
	}
}
