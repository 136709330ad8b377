package fakezk

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/internal/refstore"
)

// observer is a genuine client that records every reply header and watch event. It lives in a
// bubble.
type observer struct {
	server      *Server
	conn        *zk.Conn
	unreachable atomic.Bool // dials fail

	mu       sync.Mutex
	zxid     int64 // of the last reply with a positive one, as the client keeps it
	last     proto.ReplyHeader
	events   []refstore.Event           // since the last takeEvents, without zxids
	watching map[refstore.EventType]set // the client's next SetWatches
}

type set map[string]bool

// The three lists of SetWatches, named by the event that is special to each.
const (
	watchData  = refstore.NodeDataChanged
	watchExist = refstore.NodeCreated
	watchChild = refstore.NodeChildrenChanged
)

// connect gives the observer a new connection with its own session.
func (o *observer) connect() error {
	o.mu.Lock()
	o.zxid, o.events = 0, nil
	o.watching = map[refstore.EventType]set{watchData: {}, watchExist: {}, watchChild: {}}
	o.mu.Unlock()
	conn, _, err := zk.Connect([]string{Address}, DefaultSessionTimeout,
		zk.WithDialer(o.dial), zk.WithHostProvider(&hostProvider{}),
		zk.WithLogger(zkclient.Quiet{}),
		zk.WithMaxBufferSize(64<<10), zk.WithMaxConnBufferSize((64 << 10)),
		zk.WithEventCallback(o.notice))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	o.conn = conn
	synctest.Wait()
	if conn.State() != zk.StateHasSession {
		return fmt.Errorf("connect: state %s", conn.State())
	}
	return nil
}

func (o *observer) dial(string, string, time.Duration) (net.Conn, error) {
	if o.unreachable.Load() {
		return nil, syscall.ECONNREFUSED
	}
	conn, err := o.server.dial()
	if err != nil {
		return nil, err
	}
	return &frameReader{Conn: conn, observer: o, frames: wire.Splitter{Max: 1 << 30}}, nil
}

// notice records watch events, and drops the watches that the client drops with each (notifyWatches
// and invalidateWatches in its conn.go).
func (o *observer) notice(ev zk.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := refstore.EventType(ev.Type)
	switch ev.Type {
	case zk.EventNotWatching:
		clear(o.watching[watchData])
		clear(o.watching[watchExist])
		clear(o.watching[watchChild])
		return
	case zk.EventNodeCreated:
		delete(o.watching[watchExist], ev.Path)
	case zk.EventNodeDataChanged:
		delete(o.watching[watchExist], ev.Path)
		delete(o.watching[watchData], ev.Path)
	case zk.EventNodeChildrenChanged:
		delete(o.watching[watchChild], ev.Path)
	case zk.EventNodeDeleted:
		for _, paths := range o.watching {
			delete(paths, ev.Path)
		}
	default:
		return
	}
	o.events = append(o.events, refstore.Event{Type: t, Path: ev.Path})
}

func (o *observer) watches(list refstore.EventType, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watching[list][path] = true
}

func (o *observer) takeEvents() []refstore.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	events := o.events
	o.events = nil
	return events
}

func (o *observer) lastReply() proto.ReplyHeader {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// setWatches returns the SetWatches that the client would send on a reconnection now.
func (o *observer) setWatches() (relative int64, data, exist, child []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.zxid, slices.Sorted(maps.Keys(o.watching[watchData])),
		slices.Sorted(maps.Keys(o.watching[watchExist])),
		slices.Sorted(maps.Keys(o.watching[watchChild]))
}

// frameReader reads along with the client.
type frameReader struct {
	net.Conn
	observer *observer
	frames   wire.Splitter
	count    int
}

func (c *frameReader) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if broken := c.frames.Feed(p[:n], c.note); broken != nil {
		panic(broken)
	}
	return n, err
}

func (c *frameReader) note(frame []byte) {
	if c.count++; c.count == 1 {
		return // the handshake
	}
	h, _, err := wire.DecodeReplyHeader(frame)
	if err != nil {
		panic(err)
	}
	if h.Xid < 0 {
		return
	}
	c.observer.mu.Lock()
	defer c.observer.mu.Unlock()
	c.observer.last = h
	if h.Zxid > 0 {
		c.observer.zxid = h.Zxid
	}
}

// codeOf is the code that the client turned into an error.
func codeOf(err error) refstore.Code {
	for code, sentinel := range map[refstore.Code]error{
		refstore.OK: nil, refstore.NoNode: zk.ErrNoNode, refstore.NoAuth: zk.ErrNoAuth,
		refstore.BadVersion:              zk.ErrBadVersion,
		refstore.NoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals,
		refstore.NodeExists:              zk.ErrNodeExists,
		refstore.NotEmpty:                zk.ErrNotEmpty,
		refstore.SessionExpired:          zk.ErrSessionExpired,
		refstore.InvalidACL:              zk.ErrInvalidACL,
		refstore.BadArguments:            zk.ErrBadArguments,
	} {
		if errors.Is(err, sentinel) {
			return code
		}
	}
	var n refstore.Code
	if _, scan := fmt.Sscanf(err.Error(), "unknown error: %d", &n); scan != nil {
		return -999 // an error of the client's own making
	}
	return n
}

func statOf(s *zk.Stat) refstore.Stat {
	if s == nil {
		return refstore.Stat{}
	}
	return refstore.Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, Version: s.Version, Cversion: s.Cversion,
		Aversion: s.Aversion, EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength,
		NumChildren: s.NumChildren,
	}
}

func zkACL(list []refstore.ACL) []zk.ACL {
	acls := []zk.ACL{}
	for _, a := range list {
		acls = append(acls, zk.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	return acls
}

func modelACL(list []zk.ACL) []refstore.ACL {
	var acls []refstore.ACL
	for _, a := range list {
		acls = append(acls, refstore.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	return acls
}
