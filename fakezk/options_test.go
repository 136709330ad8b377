package fakezk

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestTimeoutsFitTheProtocol: with any options, a client gets a positive number of milliseconds.
func TestTimeoutsFitTheProtocol(t *testing.T) {
	const ask = 4000
	for _, test := range []struct {
		options Options
		want    int32 // for a client that asks for 4 s
	}{
		{Options{TickTime: 2_000_000 * time.Hour}, 1<<31 - 1},
		{Options{TickTime: 1000 * time.Hour}, 1<<31 - 1},
		{Options{MinSessionTimeout: 1000 * time.Hour}, 1<<31 - 1},
		{Options{MaxSessionTimeout: 1000 * time.Hour}, ask},
		{Options{TickTime: 1, MinSessionTimeout: 1, MaxSessionTimeout: 1}, 1},
		{Options{MaxSessionTimeout: time.Millisecond}, ask}, // the minimum is 2 ticks
	} {
		synctest.Test(t, func(t *testing.T) {
			s := Start(t, test.options)
			resp := rawDial(t, s).handshake(proto.ConnectRequest{TimeoutMs: ask})
			check.Equal(t, resp.TimeoutMs, test.want, "%+v: timeout in ms", test.options)
		})
	}
}

func TestFourLetterWordsAreKnown(t *testing.T) {
	for word, want := range map[string]bool{"ruok": true, "mntr": true, "rouk": false,
		"RUOK": false,
		"":     false, "*": false} {
		check.Equal(t, IsFourLetterWord(word), want, "%q", word)
	}
}
