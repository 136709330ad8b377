package sim

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// Settings are the settings of the server of a World. The zero value is a server with a tick of two
// seconds. They mean the same as in fakezk.Options.
type Settings struct {
	// TickTime is the unit of time of session expiry; 0 means 2 s.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the session timeouts of clients; 0 means 2 and
	// 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxFrame is the length in bytes of the longest request; 0 means 1048575.
	MaxFrame int
	// SuperDigest is the digest identity that passes every ACL check.
	SuperDigest string
	// EnforceQuota refuses writes beyond a hard limit of a quota.
	EnforceQuota bool
	// ContainerCheckInterval is the time between two searches for containers and
	// TTL nodes that may go; 0 means 60 s, a negative one never.
	ContainerCheckInterval time.Duration
}

func (s Settings) engineConfig() engine.Config {
	return engine.Config{
		TickTime:               s.TickTime,
		MinSessionTimeout:      s.MinSessionTimeout,
		MaxSessionTimeout:      s.MaxSessionTimeout,
		SuperDigest:            s.SuperDigest,
		EnforceQuota:           s.EnforceQuota,
		ContainerCheckInterval: s.ContainerCheckInterval,
	}.WithDefaults()
}

func (s Settings) maxFrame() int {
	if s.MaxFrame <= 0 {
		return wire.DefaultMaxFrame
	}
	return min(s.MaxFrame, wire.MaxFrameLimit)
}
