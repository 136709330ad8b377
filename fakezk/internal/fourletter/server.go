package fourletter

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// Server is everything that an answer can show.
type Server struct {
	// Engine holds the tree, the sessions, the watches and the connections.
	Engine *engine.Engine
	// Now is the time, and its location the server's time zone. Started is when
	// the server started.
	Now, Started time.Time
	// Stopped says that the server takes connections but serves no requests.
	Stopped bool

	// Addr is the address of a client's connection, "127.0.0.1:43522" or
	// "[::1]:43522". Nil means that only the engine's IP is known.
	Addr func(engine.ConnID) string
	// Asker is the address of the connection that the word came on. It is listed
	// last; the engine may know it too.
	Asker string
	// Words are the packets of four-letter words, this one included, since the
	// start or srst. The engine counts frames only.
	Words engine.Stats
	// TraceMask is what gtmk says; DefaultTraceMask at the start.
	TraceMask int64

	Settings
	// Env is what envi says, in the server's order; see [Environment].
	Env []KeyValue
	// Traffic and History are optional.
	Traffic Traffic
	History History
}

// Settings are what conf shows of a server's configuration.
type Settings struct {
	// ClientPort and SecureClientPort are TCP ports; 0 means none.
	ClientPort, SecureClientPort int
	// DataDir and DataLogDir are absolute paths as configured, without the
	// "/version-2" that the server appends. An empty DataLogDir means DataDir.
	DataDir, DataLogDir string
	// DataSize is the size of either directory in bytes; 0 means that of a
	// server that has neither restarted nor taken a second snapshot.
	DataSize int64
	// TickTime is the unit of the session timeouts, which lie between the others.
	TickTime, MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxClientConns is the limit of connections from one address, 0 for none.
	MaxClientConns int
	// ListenBacklog is clientPortListenBacklog; 0 means that it is not set.
	ListenBacklog int
}

// History is what the tables of a real server still show of the past. All of it
// is optional.
type History struct {
	// SessionSets and ConnSets are times at which some session or connection was
	// due, before it was heard of again. The real server keeps the empty set
	// until the time comes and dump shows it ("0 expire at ...").
	SessionSets, ConnSets []time.Time
	// Digests are the digests of the tree that hash lists, oldest first.
	Digests []Digest
}

// Digest is the digest of the tree after a transaction.
type Digest struct{ Zxid, Value int64 }

// packets are all that the server counts: frames, and those of words.
func (s *Server) packets() engine.Stats {
	frames := s.Engine.Stats()
	frames.Received += s.Words.Received
	frames.Sent += s.Words.Sent
	return frames
}

// nodeCount counts the root twice, as the real server does, whose table holds
// it under "" and under "/".
func (s *Server) nodeCount() int { return s.Engine.Store().NodeCount() + 1 }
