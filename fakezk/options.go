package fakezk

import (
	"crypto/rand"
	"log/slog"
	"maps"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// Options are the settings of a Server. The zero value is a server with a tick
// of two seconds, as ZooKeeper's sample configuration has it.
type Options struct {
	// Servers is the number of servers, at most [MaxServers]; 0 means 1. Several are an ensemble;
	// see the package comment.
	Servers int
	// TickTime is the unit of time of session expiry, at least a millisecond; 0
	// means 2 s, and more than LongestTimeout counts as LongestTimeout. Sessions
	// end at the end of a tick, so up to one tick late and never early.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the session timeouts of clients; 0 means 2 and
	// 20 ticks. Values below a millisecond and above LongestTimeout count as these limits, and a
	// maximum below the minimum counts as the minimum.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxFrame is jute.maxbuffer, the length in bytes of the longest request;
	// 0 means 1048575, and more than 1 GiB counts as 1 GiB.
	MaxFrame int
	// MaxClientConns is maxClientCnxns, the number of TCP connections that one IP address may have
	// open at a time; 0 means 60 as in ZooKeeper, a negative number no limit. One more is accepted
	// and closed without a byte. Connections made in memory do not count.
	MaxClientConns int
	// MaxQueued is the number of bytes that the server keeps for a client that does not read,
	// besides the buffers of the system; 0 means 64 MiB. While the queue is longer, the client's
	// requests wait, pings included, so that its session expires if it does not catch up within the
	// session timeout. Watch notifications that others cause cannot wait: when they make the queue
	// twice as long, the connection is reset, and its session lives on. A real server keeps all of
	// it until its heap is full. Connections made in memory have no bound.
	MaxQueued int
	// SuperDigest is the digest identity that passes every ACL check,
	// "super:base64(sha1(super:password))"; empty means that there is none. It is
	// the property zookeeper.DigestAuthenticationProvider.superDigest.
	SuperDigest string
	// SASLUsers are the passwords by name of the users who may authenticate by SASL with
	// DIGEST-MD5, as the section Server of a JAAS file lists them. A user gets the identity
	// sasl:name. Nil means that the server has no SASL, and no ACL scheme sasl.
	SASLUsers map[string]string
	// EnforceQuota refuses writes beyond a hard limit of a quota, as enforceQuota=true does.
	EnforceQuota bool
	// ContainerCheckInterval is znode.container.checkIntervalMs, the time between two searches for
	// containers and TTL nodes that may go; 0 means 60 s, a negative one never.
	ContainerCheckInterval time.Duration
	// FourLetterWords is 4lw.commands.whitelist, the words that are answered,
	// "ruok" say, or "*" for all. Nil means all, unlike a real server's default,
	// which is srvr alone; an empty list means none.
	FourLetterWords []string
	// Logger, unless it is nil, logs the events of a Server: at level info the sessions that begin
	// and end, the faults that fire, the connections and handshakes that are refused, and the
	// frames that cannot be read; at level debug the sessions that lose and find their connection.
	// One goroutine calls its handler, which may be slow: up to 1024 lines wait for it, more are
	// dropped, and a line at level warn has their number. Close waits until the handler has all
	// lines. The handler's Enabled is called at once and must not block.
	Logger *slog.Logger
	// Trace keeps the last 1,000 records of what happens: requests with their results,
	// notifications, faults, the events of Logger, and calls that change the server, pings left
	// out. History returns them, and Start prints them when the test fails.
	Trace bool
}

// MaxServers is the greatest number of servers. A greater number in Options has the same effect as
// MaxServers.
const MaxServers = carry.MaxServers

// LongestTimeout is the longest session timeout: in the protocol it is 32 bits of milliseconds.
const LongestTimeout = engine.LongestTimeout

// IsFourLetterWord reports whether a server knows the word. Only such words may stand in
// Options.FourLetterWords.
func IsFourLetterWord(word string) bool { return fourletter.Known(word) }

func (o Options) withDefaults() Options {
	times := o.engineConfig()
	o.TickTime, o.MinSessionTimeout, o.MaxSessionTimeout = times.TickTime, times.MinSessionTimeout,
		times.MaxSessionTimeout
	o.Servers = min(max(o.Servers, 1), MaxServers)
	if o.MaxFrame <= 0 {
		o.MaxFrame = wire.DefaultMaxFrame
	}
	o.MaxFrame = min(o.MaxFrame, wire.MaxFrameLimit)
	if o.MaxClientConns == 0 {
		o.MaxClientConns = 60
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = 64 << 20
	}
	if o.FourLetterWords == nil {
		o.FourLetterWords = []string{"*"}
	}
	return o
}

func (o Options) engineConfig() engine.Config {
	return engine.Config{
		Servers:                o.Servers,
		TickTime:               o.TickTime,
		MinSessionTimeout:      o.MinSessionTimeout,
		MaxSessionTimeout:      o.MaxSessionTimeout,
		SuperDigest:            o.SuperDigest,
		EnforceQuota:           o.EnforceQuota,
		SASLUsers:              maps.Clone(o.SASLUsers),
		Nonce:                  rand.Text,
		Digests:                true,
		ContainerCheckInterval: o.ContainerCheckInterval,
	}.WithDefaults()
}
