// Package zk is samuel's client, which has become go-zookeeper, under the names of the latter.
package zk

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/samuel/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Conn is a connection of samuel's client.
type Conn struct {
	*zk.Conn
	closed sync.Once
}

// Close may be called twice.
func (c *Conn) Close() { c.closed.Do(c.Conn.Close) }

// CreateContainer makes an ordinary node: the client knows no containers.
func (c *Conn) CreateContainer(path string, data []byte, _ int32, acl []ACL) (string, error) {
	return c.Create(path, data, 0, acl)
}

var conns sync.Map // of the lives of clients

// ConnOf is the connection of the client that lives so long. It dials for itself.
func ConnOf(life context.Context, address string) *Conn {
	if c, ok := conns.Load(life); ok {
		return c.(*Conn)
	}
	conn, _, err := zk.Connect([]string{address}, scenario.SessionTimeout,
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	c := &Conn{Conn: conn}
	context.AfterFunc(life, func() {
		conns.Delete(life)
		time.Sleep(time.Second) // what is asked in a closed connection is never answered
		c.Close()
	})
	conns.Store(life, c)
	return c
}

// Another is one more connection of the client that lives so long.
func Another(life context.Context, address string) *Conn {
	return ConnOf(context.WithValue(life, another{}, true), address)
}

type another struct{}

type silent struct{}

func (silent) Printf(string, ...any) {}

// NewLock returns the lock of samuel's client.
func NewLock(c *Conn, path string, acl []ACL) *Lock { return zk.NewLock(c.Conn, path, acl) }

type (
	ACL                 = zk.ACL
	Event               = zk.Event
	Stat                = zk.Stat
	State               = zk.State
	CreateRequest       = zk.CreateRequest
	DeleteRequest       = zk.DeleteRequest
	SetDataRequest      = zk.SetDataRequest
	CheckVersionRequest = zk.CheckVersionRequest
	MultiResponse       = zk.MultiResponse
	Lock                = zk.Lock
)

const (
	FlagEphemeralSequential  = zk.FlagEphemeral | zk.FlagSequence
	FlagContainer            = 4
	FlagEphemeral            = zk.FlagEphemeral
	FlagSequence             = zk.FlagSequence
	PermAll                  = zk.PermAll
	StateHasSession          = zk.StateHasSession
	StateDisconnected        = zk.StateDisconnected
	StateConnecting          = zk.StateConnecting
	EventNodeDeleted         = zk.EventNodeDeleted
	EventNodeDataChanged     = zk.EventNodeDataChanged
	EventNodeChildrenChanged = zk.EventNodeChildrenChanged
)

var (
	WorldACL                   = zk.WorldACL
	ErrNoNode                  = zk.ErrNoNode
	ErrNodeExists              = zk.ErrNodeExists
	ErrBadVersion              = zk.ErrBadVersion
	ErrConnectionClosed        = zk.ErrConnectionClosed
	ErrClosing                 = zk.ErrClosing
	ErrNoAuth                  = zk.ErrNoAuth
	ErrNoServer                = zk.ErrNoServer
	ErrNotEmpty                = zk.ErrNotEmpty
	ErrSessionMoved            = zk.ErrSessionMoved
	ErrSessionExpired          = zk.ErrSessionExpired
	ErrInvalidPath             = zk.ErrInvalidPath
	ErrDeadlock                = zk.ErrDeadlock
	ErrNotLocked               = zk.ErrNotLocked
	ErrNoChildrenForEphemerals = zk.ErrNoChildrenForEphemerals
	ErrBadArguments            = zk.ErrBadArguments
	ErrInvalidACL              = zk.ErrInvalidACL
	ErrAuthFailed              = zk.ErrAuthFailed
	ErrAPIError                = zk.ErrAPIError
	ErrReconfigDisabled        = zk.ErrReconfigDisabled
	ErrUnhandledFieldType      = zk.ErrUnhandledFieldType
	ErrShortBuffer             = zk.ErrShortBuffer
	ErrPtrExpected             = zk.ErrPtrExpected
	ErrInvalidFlags            = errors.New("not of this client")
)
