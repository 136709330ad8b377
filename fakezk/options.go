package fakezk

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// Options are the settings of a Server. The zero value is a server with a tick
// of two seconds, as ZooKeeper's sample configuration has it.
type Options struct {
	// TickTime is the unit of time of session expiry, at least a millisecond; 0
	// means 2 s. Sessions end at the end of a tick, so up to one tick late and
	// never early.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound what a client may ask for;
	// 0 means 2 and 20 ticks. A maximum below the minimum counts as the minimum.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxFrame is jute.maxbuffer, the length in bytes of the longest request;
	// 0 means 1048575, and more than 1 GiB counts as 1 GiB.
	MaxFrame int
	// MaxClientConns is maxClientCnxns, the number of TCP connections that one IP
	// address may have open at a time; 0 means 60 as in ZooKeeper, a negative
	// number no limit. One more is accepted and closed without a byte.
	// Connections made in memory do not count.
	MaxClientConns int
	// MaxQueued bounds what the server keeps for a client that does not read, in
	// bytes of watch notifications that others caused; a connection that has
	// more is closed and its session lives on. 0 means 16 MiB. Replies need no
	// such bound: a client that leaves more than a sixteenth of MaxQueued unread
	// is not read from until it catches up. A real server keeps all of it until
	// its heap is full. Connections made in memory have no bound.
	MaxQueued int
	// SuperDigest is the digest identity that passes every ACL check,
	// "super:base64(sha1(super:password))"; empty means that there is none. It is
	// the property zookeeper.DigestAuthenticationProvider.superDigest.
	SuperDigest string
	// EnforceQuota refuses writes beyond a hard limit of a quota, as
	// enforceQuota=true does.
	EnforceQuota bool
	// ContainerCheckInterval is znode.container.checkIntervalMs, the time between
	// two searches for containers and TTL nodes that may go; 0 means 60 s, a
	// negative one never.
	ContainerCheckInterval time.Duration
	// FourLetterWords is 4lw.commands.whitelist, the words that are answered,
	// "ruok" say, or "*" for all. Nil means all, unlike a real server's default,
	// which is srvr alone; an empty list means none.
	FourLetterWords []string
}

// maxFrameLimit keeps four-letter words apart from lengths: read as a number,
// each is above it.
const maxFrameLimit = 1 << 30

func (o Options) withDefaults() Options {
	if o.TickTime <= 0 {
		o.TickTime = 2 * time.Second
	}
	o.TickTime = max(o.TickTime, time.Millisecond)
	if o.MinSessionTimeout <= 0 {
		o.MinSessionTimeout = 2 * o.TickTime
	}
	if o.MaxSessionTimeout <= 0 {
		o.MaxSessionTimeout = 20 * o.TickTime
	}
	o.MaxSessionTimeout = max(o.MaxSessionTimeout, o.MinSessionTimeout)
	if o.MaxFrame <= 0 {
		o.MaxFrame = wire.DefaultMaxFrame
	}
	o.MaxFrame = min(o.MaxFrame, maxFrameLimit)
	if o.MaxClientConns == 0 {
		o.MaxClientConns = 60
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = 16 << 20
	}
	if o.FourLetterWords == nil {
		o.FourLetterWords = []string{"*"}
	}
	return o
}

func (o Options) engineConfig() engine.Config {
	return engine.Config{
		TickTime:               o.TickTime,
		MinSessionTimeout:      o.MinSessionTimeout,
		MaxSessionTimeout:      o.MaxSessionTimeout,
		SuperDigest:            o.SuperDigest,
		EnforceQuota:           o.EnforceQuota,
		ContainerCheckInterval: o.ContainerCheckInterval,
	}
}
