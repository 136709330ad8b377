package ballast

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestASettingOfTheCollectorMakesTheBallastSmaller(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		percent, limit int64
		want           int
	}{
		{100, math.MaxInt64, 64 * mb},
		{50, math.MaxInt64, 64 * mb},
		{400, math.MaxInt64, 16 * mb},
		{100, 2 << 30, 64 * mb},
		{100, 256 * mb, 16 * mb},
		{100, 0, 0},
		{off, math.MaxInt64, 0},
		{off, 256 * mb, 0},
	} {
		if got := sizeFor(c.percent, c.limit); got != c.want {
			t.Errorf("GOGC=%d, limit %d: %d bytes, expected %d", c.percent, c.limit, got, c.want)
		}
	}
}

func TestSettingsAreThoseOfTheProcess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(250))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30))
	if percent, limit := settings(); percent != 250 || limit != 3<<30 {
		t.Errorf("GOGC=%d, limit %d; expected 250 and %d", percent, limit, 3<<30)
	}
	debug.SetGCPercent(-1)
	if percent, _ := settings(); percent != off {
		t.Errorf("GOGC=%d, expected %d for off", percent, off)
	}
}

func TestHoldersShareABallastUntilTheLastReleases(t *testing.T) {
	first := Hold()
	held := shared.held
	second := Hold()
	first()
	first()
	if shared.held != held || shared.holders != 1 {
		t.Errorf("%d holders after one of two has released, and another ballast: %v",
			shared.holders, shared.held != held)
	}
	second()
	if shared.held != nil {
		t.Error("a ballast is held after the last release")
	}
	held = nil
	runtime.GC()
	if shared.last.Value() != nil {
		t.Error("the collector leaves the ballast that nobody holds")
	}
}

func TestTheNextHolderTakesTheBallastAgain(t *testing.T) {
	Hold()()
	before := shared.last
	Hold()()
	if before.Value() != nil && shared.last != before {
		t.Error("another ballast was made while the old one was there")
	}
}
