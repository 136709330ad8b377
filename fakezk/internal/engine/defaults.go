package engine

import (
	"math"
	"time"
)

// LongestTimeout is the longest session timeout that the protocol can express: 32
// bits of milliseconds.
const LongestTimeout = math.MaxInt32 * time.Millisecond

// WithDefaults replaces zero values by a real server's defaults, a tick of 2 s and
// session timeouts of 2 to 20 ticks, and clamps times to between a millisecond and
// LongestTimeout. A maximum below the minimum counts as the minimum.
func (c Config) WithDefaults() Config {
	if c.TickTime <= 0 {
		c.TickTime = 2 * time.Second
	}
	c.TickTime = clampTimeout(c.TickTime)
	if c.MinSessionTimeout <= 0 {
		c.MinSessionTimeout = 2 * c.TickTime
	}
	if c.MaxSessionTimeout <= 0 {
		c.MaxSessionTimeout = 20 * c.TickTime
	}
	c.MinSessionTimeout = clampTimeout(c.MinSessionTimeout)
	c.MaxSessionTimeout = max(clampTimeout(c.MaxSessionTimeout), c.MinSessionTimeout)
	return c
}

func clampTimeout(d time.Duration) time.Duration {
	return min(max(d, time.Millisecond), LongestTimeout)
}
