package conform

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestTimesAreChecked(t *testing.T) {
	now := nowMs()
	start := mark{zxid: 100, earliest: now - 1000, latest: now}
	type at struct {
		zxid, ms int64
		want     string
	}
	tests := []struct {
		name string
		seen []at
	}{
		{"now", []at{{101, now, ""}, {102, now, ""}, {101, now, ""}}},
		{"old", []at{{7, now - 1e9, ""}, {100, now, ""}}},
		{
			"node of a new server",
			[]at{
				{0, 0, ""}, {
					0, now, " (at the time " + fmt.Sprint(now) + ")",
				}, {5, 0, " (at the time 0)"},
			},
		},
		{"two times", []at{{101, now, ""}, {101, now + 1, " (at a time that is not the zxid's)"}}},
		{"falling", []at{
			{105, now, ""},
			{106, now - 1, " (at a time that falls)"},
			{104, now + 1, " (at a time that falls)"},
			{103, now - 1, ""},
		}},
		{"an hour ahead", []at{{101, now + 3_600_000, " (3600 s too late)"}}},
		{"an hour behind", []at{{101, now - 3_601_000, " (3600 s too early)"}}},
		{
			"seconds",
			[]at{{7, now / 1000, " (" + fmt.Sprint(seconds(oldestMs-now/1000)) + " s too early)"}},
		},
		{"old zxid in the future", []at{{7, now + 60_000, " (60 s too late)"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newClock(start)
			for _, s := range test.seen {
				check.Equal(t, c.check(s.zxid, s.ms), s.want, "zxid %d at %d", s.zxid, s.ms)
			}
		})
	}
}

// TestPasswordOf has the id and the password of a session of a real server.
func TestPasswordOf(t *testing.T) {
	const want = "eb2de6b09ce07b0a41965bc245a88b81"
	check.Equal(t, hex.EncodeToString(passwordOf(0x0100018a79470000)), want)
}

func TestPartOfTheEventsIsEnoughAtExpiry(t *testing.T) {
	const closed, cut = closedByServer, closedByServer + " within a frame"
	tests := []struct {
		a, b outcome
		want bool
	}{
		{outcome{"1", "2", closed}, outcome{"1", "2", closed}, true},
		{outcome{"1", "2", closed}, outcome{"1", closed}, true},
		{outcome{closed}, outcome{"1", "2", cut}, true},
		{outcome{"2", closed}, outcome{"1", "2", closed}, false},
		{outcome{"1", "3", closed}, outcome{"1", "2", closed}, false},
		{outcome{"1"}, outcome{"1", closed}, false},
		{outcome{"no answer"}, outcome{closed}, false},
	}
	for _, test := range tests {
		expiry, other := step{kind: stepExpire}, step{kind: stepSend}
		check.Equal(t, expiry.agree([2]outcome{test.a, test.b}), test.want, "%q and %q", test.a,
			test.b)
		check.Equal(t, expiry.agree([2]outcome{test.b, test.a}), test.want, "%q and %q", test.b,
			test.a)
		if other.agree([2]outcome{test.a, test.b}) && len(test.a) != len(test.b) {
			t.Errorf("%q and %q agree although the step is not an expiry", test.a, test.b)
		}
	}
}
