package testconn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// A fakezk.Server is one server that counts like ZooKeeper 3.6 and later. This file lets a Conn see
// a server that lags behind, a server of 3.5 with sequence numbers past 2147483647, and nodes with
// versions that take billions of changes.

// Copy is the tree of a server at one moment, by path.
type Copy map[string]copied

type copied struct {
	data     []byte
	stat     *zk.Stat
	children []string
}

// Copy returns the present tree, for FallBehind.
func (s *Server) Copy() Copy {
	s.t.Helper()
	conn := s.Server.Connect(s.t)
	tree := Copy{}
	for _, path := range append([]string{"/"}, s.paths()...) {
		data, stat, err := conn.Get(path)
		names, _, listErr := conn.Children(path)
		if err := errors.Join(err, listErr); err != nil {
			s.t.Fatalf("copy %s: %v", path, err)
		}
		tree[path] = copied{
			data, stat, slices.DeleteFunc(names, func(name string) bool {
				return name == "zookeeper"
			}),
		}
	}
	return tree
}

func (s *Server) paths() []string {
	var paths []string
	for _, n := range s.Tree() {
		if n.Path != "/" {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// lag is the state that a lagging server shows to a connection.
type lag struct {
	conn *zk.Conn

	mu     sync.Mutex
	behind Copy  // reads show it until the next sync or write; nil: no lag
	except int64 // the session without lag
}

// Lag makes reads return the copy, until the next sync or transaction is answered.
func (c *Conn) Lag(old Copy) { c.lag.set(old, 0) }

// FallBehind ends the session; the server of the next one lags behind.
func (c *Conn) FallBehind(old Copy) {
	c.lag.set(old, c.SessionID())
	c.Expire()
}

// set makes reads return the copy, in all sessions but one.
func (l *lag) set(old Copy, except int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behind, l.except = old, except
}

// catchUp ends the lag, once it has begun.
func (l *lag) catchUp() {
	session := l.conn.SessionID()
	l.mu.Lock()
	defer l.mu.Unlock()
	if session != l.except {
		l.behind, l.except = nil, 0
	}
}

// seen returns a node as a lagging server has it.
func (l *lag) seen(path string) (n copied, there, lags bool) {
	session := l.conn.SessionID()
	l.mu.Lock()
	defer l.mu.Unlock()
	n, there = l.behind[path]
	return n, there, l.behind != nil && session != l.except
}

func (l *lag) stat(path string, found bool, stat *zk.Stat) (bool, *zk.Stat) {
	if n, there, lags := l.seen(path); lags {
		return there, n.stat
	}
	return found, stat
}

func (l *lag) data(path string, data []byte, stat *zk.Stat, err error) ([]byte, *zk.Stat, error) {
	n, there, lags := l.seen(path)
	switch {
	case !lags, err != nil && !errors.Is(err, zk.ErrNoNode):
		return data, stat, err
	case !there:
		return nil, nil, zk.ErrNoNode
	}
	return n.data, n.stat, nil
}

func (l *lag) children(
	path string, names []string, stat *zk.Stat, err error,
) ([]string, *zk.Stat, error) {
	n, there, lags := l.seen(path)
	switch {
	case !lags, err != nil && !errors.Is(err, zk.ErrNoNode):
		return names, stat, err
	case !there:
		return nil, nil, zk.ErrNoNode
	}
	return slices.Clone(n.children), n.stat, nil
}

// SetVersion gives a node a version, as many changes of its data would.
func (s *Server) SetVersion(path string, version int32) {
	s.t.Helper()
	n, there := s.Node(path)
	if !there {
		s.t.Fatalf("set the version of %s: it is not there", path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[path] = version - n.Version
}

// realVersion is the version for a request to fakezk; -1 is any.
func (s *Server) realVersion(path string, version int32) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ahead := s.versions[path]
	switch real := version - ahead; {
	case version == -1 || ahead == 0:
		return version
	case real == -1:
		return math.MinInt32 // no node has it
	default:
		return real
	}
}

// shownStat is the stat that a client sees.
func (s *Server) shownStat(path string, stat *zk.Stat) *zk.Stat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stat == nil || s.versions[path] == 0 {
		return stat
	}
	shown := *stat
	shown.Version += s.versions[path]
	return &shown
}

// NumberFrom makes all directories count their sequential children from first on. It may be
// negative, as on a server of 3.5 after 2147483647.
func (s *Server) NumberFrom(first int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbers = first
}

// shown is a path or name as a client sees it.
func (s *Server) shown(path string) string { return s.renumbered(path, 1) }

func (s *Server) shownAll(names []string) []string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = s.shown(name)
	}
	return shown
}

// real is a path as fakezk has it.
func (s *Server) real(path string) string { return s.renumbered(path, -1) }

// renumbered moves the number at the end of a path. It is ten characters long, its sign included.
func (s *Server) renumbered(path string, direction int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(path) - 10
	if s.numbers == 0 || at < 0 {
		return path
	}
	n, err := strconv.Atoi(path[at:])
	if err != nil {
		return path
	}
	return path[:at] + fmt.Sprintf("%010d", n+direction*int(s.numbers))
}

// realOp is an operation of a transaction as fakezk gets it.
func (s *Server) realOp(op any) any {
	switch op := op.(type) {
	case *zk.CreateRequest:
		real := *op
		real.Path = s.real(op.Path)
		return &real
	case *zk.DeleteRequest:
		return &zk.DeleteRequest{Path: s.real(op.Path), Version: s.realVersion(op.Path, op.Version)}
	case *zk.SetDataRequest:
		return &zk.SetDataRequest{
			Path: s.real(op.Path), Data: op.Data, Version: s.realVersion(op.Path, op.Version),
		}
	case *zk.CheckVersionRequest:
		return &zk.CheckVersionRequest{
			Path: s.real(op.Path), Version: s.realVersion(op.Path, op.Version),
		}
	}
	return op
}

// Stays is how long ExpireLate keeps nodes that are not to go by themselves.
const Stays = 12 * time.Hour
