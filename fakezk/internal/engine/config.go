package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// Config holds the settings of a server. The first three are required.
type Config struct {
	// TickTime is the unit of session expiry, at least a millisecond.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the negotiated session timeout;
	// a real server's defaults are 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Servers is the number of servers of the ensemble; 0 means 1.
	Servers int
	// Skew is by how many milliseconds the clock of a server is fast, by which it dates
	// transactions when it leads; nil means that all clocks agree.
	Skew func(server int) int64
	// Silent reports whether a server neither hears of the others nor they of it; nil means never.
	// The leader then hears of no requests that the clients of the server send, so that their
	// sessions end in time.
	Silent func(server int) bool
	// OrderChildren sorts the names that getChildren returns; nil leaves them in the
	// store's order. tree is that of the server that answers, changes the number of creations
	// and deletions of children of parent.
	OrderChildren func(tree *state.Store, parent string, changes int32, names []string)
	// SuperDigest is the digest identity that passes every ACL check,
	// "user:base64(sha1(user:password))", or empty for none. It is the property
	// zookeeper.DigestAuthenticationProvider.superDigest.
	SuperDigest string
	// EnforceQuota refuses writes beyond a hard limit, as enforceQuota=true does.
	EnforceQuota bool
	// Digests keeps digests of the tree for the four-letter word hash.
	Digests bool
	// Interrupted, unless nil, is asked in the course of a long multi, which fails with SystemError
	// when it returns true.
	Interrupted func() bool
	// ContainerCheckInterval is the time between two searches for containers and
	// TTL nodes to delete, in whole milliseconds; 0 means 60 s, a negative one
	// never. It is the property znode.container.checkIntervalMs.
	ContainerCheckInterval time.Duration
	// SASLUsers are the passwords by name of the users who may authenticate by SASL DIGEST-MD5, as
	// a JAAS file lists them. Without users the server answers as one without SASL, and the ACL
	// scheme sasl does not exist.
	SASLUsers map[string]string
	// Nonce returns the nonce of a SASL challenge; it is required with SASLUsers. In a server it is
	// random.
	Nonce func() string
	// HideCounts puts -1 in place of Cversion, NumChildren and Pzxid in all stats but those in
	// replies to creates and lists of children. Then a client does not see whether another one has
	// made or deleted a child since.
	HideCounts bool
	// Observe, unless nil, is called with every reaction before it is returned. frameBytes is the
	// length of the handled frame, 0 without one. Observe must not call the engine.
	Observe func(frameBytes int, r Reaction)
}

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

func (c Config) state() state.Config {
	return state.Config{
		EnforceQuota: c.EnforceQuota, SASL: len(c.SASLUsers) > 0, Digests: c.Digests,
		Interrupted: c.Interrupted, Members: c.members(),
	}
}

// members is the data of /zookeeper/config in an ensemble, on one host and with the usual ports.
func (c Config) members() string {
	if c.Servers <= 1 {
		return ""
	}
	var b strings.Builder
	for i := range c.Servers {
		fmt.Fprintf(&b, "server.%d=127.0.0.1:%d:%d:participant\n", i+1, 2888+i, 3888+i)
	}
	return b.String() + "version=0"
}
