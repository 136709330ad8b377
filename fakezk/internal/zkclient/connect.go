package zkclient

import (
	"context"
	"errors"
	"reflect"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/go-zookeeper/zk"
)

// Connect is zk.Connect without its buffer for requests, in place of which
// zk.WithMaxConnBufferSize has to make another. zk.Connect makes 1.5 MB of zeros before it looks at
// the options: that would be four fifths of the memory that a run allocates.
//
// So a Conn is made by itself, from a pattern that zk.Connect has filled in, and started as
// zk.Connect does. It calls no Init: the host provider among the options knows its servers.
func Connect(timeout time.Duration, options ...func(*zk.Conn)) (*zk.Conn, <-chan zk.Event) {
	conn := likePattern()
	for _, option := range options {
		option(conn)
	}
	setTimeouts(conn, int32(timeout/time.Millisecond))
	events := field(reflect.ValueOf(conn).Elem(), "eventChan").Interface().(chan zk.Event)
	go func() {
		loop(conn, context.Background())
		flushRequests(conn, zk.ErrClosing)
		invalidateWatches(conn, zk.ErrClosing)
		close(events)
	}()
	return conn, events
}

// likePattern returns a Conn with the fields of the pattern, but with channels and maps of its own,
// and without a buffer.
func likePattern() *zk.Conn {
	from, conn := reflect.ValueOf(pattern).Elem(), new(zk.Conn)
	to := reflect.ValueOf(conn).Elem()
	buffer := indexOf(from.Type(), "buf")
	for i := range from.NumField() {
		switch f := fieldAt(from, i); {
		case f.IsZero() || i == buffer:
		case f.Kind() == reflect.Chan:
			fieldAt(to, i).Set(reflect.MakeChan(f.Type(), f.Cap()))
		case f.Kind() == reflect.Map:
			fieldAt(to, i).Set(reflect.MakeMap(f.Type()))
		default:
			fieldAt(to, i).Set(f)
		}
	}
	return conn
}

// pattern is a Conn that zk.Connect has filled in and not started. It is not made in a World, whose
// draws would tell the first connection of the process from later ones.
var pattern = func() (conn *zk.Conn) {
	_, _, _ = zk.Connect([]string{"pattern"}, time.Second, zk.WithHostProvider(noHosts{}),
		zk.WithMaxConnBufferSize(0), func(c *zk.Conn) { conn = c })
	return conn
}()

// noHosts lets zk.Connect fail once it has filled in a Conn.
type noHosts struct{ zk.HostProvider }

func (noHosts) Init([]string) error { return errors.New("only the Conn is wanted") }

//go:linkname setTimeouts github.com/go-zookeeper/zk.(*Conn).setTimeouts
func setTimeouts(c *zk.Conn, sessionTimeoutMs int32)

//go:linkname loop github.com/go-zookeeper/zk.(*Conn).loop
func loop(c *zk.Conn, ctx context.Context)

//go:linkname flushRequests github.com/go-zookeeper/zk.(*Conn).flushRequests
func flushRequests(c *zk.Conn, err error)

//go:linkname invalidateWatches github.com/go-zookeeper/zk.(*Conn).invalidateWatches
func invalidateWatches(c *zk.Conn, err error)
