package judging

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
)

// TestAPauseCutsOffForItsTime only, and does not end a loss.
func TestAPauseCutsOffForItsTime(t *testing.T) {
	const second = time.Second
	at := func(n int, kind lin.NoticeKind) lin.Notice {
		return lin.Notice{Client: "a", Step: int64(n), Time: time.Duration(n) * second, Kind: kind}
	}
	paused := []lin.Notice{at(1, lin.Connected), at(3, lin.Paused), at(4, lin.Paused),
		at(5, lin.Resumed),
		at(7, lin.Resumed)}
	lost := []lin.Notice{at(1, lin.Connected), at(2, lin.Paused), at(3, lin.Disconnected),
		at(5, lin.Resumed),
		at(7, lin.Connected)}
	for _, c := range []struct {
		notices []lin.Notice
		client  string
		at      int
		want    bool
	}{
		{paused, "a", 2, false}, {paused, "a", 4, true}, {paused, "a", 6, true},
		{paused, "a", 8, false}, {paused, "b", 4, false}, {paused[1:], "a", 6, true},
		{lost, "a", 6, true}, {lost, "a", 8, false},
	} {
		h := lin.History{Notices: c.notices}
		if got := CutOff(h, c.client, time.Duration(c.at)*second+1); got != c.want {
			t.Errorf("%v: %s at %d s: %t", c.notices, c.client, c.at, got)
		}
	}
}
