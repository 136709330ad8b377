package fourletter

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// Server holds everything that an answer can show.
type Server struct {
	// Engine holds the tree, the sessions, the watches and the connections.
	Engine *engine.Engine
	// Number is that of the answering server in its ensemble, from 0.
	Number int
	// Now is the present time; its location is the server's time zone. Started is
	// the time of the server's start.
	Now, Started time.Time
	// Stopped says that the server accepts connections but serves no requests.
	Stopped bool

	// Addr returns the address of a client's connection, such as "127.0.0.1:43522"
	// or "[::1]:43522". Nil means that only the engine's IP is known.
	Addr func(engine.ConnID) string
	// Asker is the address of the asking connection, which lists have last. The
	// engine may have it, too.
	Asker string
	// Words counts the packets of four-letter words, this one included, since the
	// start or srst. The engine counts frames only.
	Words engine.Stats
	// TraceMask is the answer to gtmk; DefaultTraceMask at the start.
	TraceMask int64

	Settings
	// Env is the lines of envi in the server's order; see [Environment].
	Env []KeyValue
	// Traffic is optional.
	Traffic Traffic

	// Step, unless nil, is called by Take for each few things that it has collected. Others may use
	// the engine meanwhile.
	Step func(things int)
}

func (s *Server) step(things int) {
	if s.Step != nil {
		s.Step(things)
	}
}

// Settings is the part of a server's configuration that conf shows.
type Settings struct {
	// ClientPort and SecureClientPort are TCP ports; 0 means none.
	ClientPort, SecureClientPort int
	// DataDir and DataLogDir are absolute paths as configured, without the
	// "/version-2" that the server appends. An empty DataLogDir means DataDir.
	DataDir, DataLogDir string
	// DataSize is the size of either directory in bytes; 0 means that of a
	// server that has neither restarted nor taken a second snapshot.
	DataSize int64
	// TickTime is the unit of session expiry. The others bound session timeouts.
	TickTime, MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxClientConns is the limit of connections from one address, 0 for none.
	MaxClientConns int
	// ListenBacklog is clientPortListenBacklog; 0 means that it is not set.
	ListenBacklog int
}

// packets counts frames and the packets of four-letter words.
func (s *Server) packets() engine.Stats {
	frames := s.Engine.Stats()
	frames.Received += s.Words.Received
	frames.Sent += s.Words.Sent
	return frames
}

// mode is the role of the server: standalone, leader or follower.
func (s *Server) mode() string {
	switch {
	case s.Engine.Servers() == 1:
		return "standalone"
	case s.Engine.Leader() == s.Number:
		return "leader"
	}
	return "follower"
}

// nodeCount counts the root twice, as the real server does: it stores the root as "" and as "/".
func (s *Server) nodeCount() int { return s.Engine.StoreOf(s.Number).NodeCount() + 1 }

// conns are the connections to the server.
func (s *Server) conns() []engine.ConnView {
	return slices.DeleteFunc(s.Engine.Conns(), func(c engine.ConnView) bool {
		return c.Server != s.Number
	})
}
