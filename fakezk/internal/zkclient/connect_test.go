package zkclient

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/internal/check"
)

// TestConnIsLikeThatOfTheClient compares each field of a Conn with that of zk.Connect, while both
// dial, and when both have been closed.
func TestConnIsLikeThatOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 7 * time.Second
		options := func(dials chan string) func(c *zk.Conn) {
			var first sync.Once // a later dial may come beside a Close
			return func(c *zk.Conn) {
				zk.WithHostProvider(oneHost{})(c)
				zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) {
					first.Do(func() { dials <- fieldsOf(c) }) // by the goroutine that writes them
					return nil, errors.New("refused")
				})(c)
				zk.WithLogger(Quiet{})(c)
				zk.WithMaxConnBufferSize(10)(c)
			}
		}
		theirDials, dials := make(chan string, 1), make(chan string, 1)
		theirs, theirEvents, err := zk.Connect([]string{"host"}, timeout, options(theirDials))
		check.OK(t, err)
		ours, events := Connect(timeout, options(dials))
		check.Equal(t, <-dials, <-theirDials, "fields")
		theirs.Close()
		ours.Close()
		for range theirEvents { // until the client's loop has ended
		}
		for range events {
		}
		check.Equal(t, fieldsOf(ours), fieldsOf(theirs), "fields of a closed Conn")
	})
}

func TestConnsShareNoChannelAndNoMap(t *testing.T) {
	a, b := reflect.ValueOf(likePattern()).Elem(), reflect.ValueOf(likePattern()).Elem()
	for i := range a.NumField() {
		switch f := a.Field(i); f.Kind() {
		case reflect.Chan, reflect.Map:
			if !f.IsNil() && f.Pointer() == b.Field(i).Pointer() {
				t.Errorf("two Conns have the same %s", a.Type().Field(i).Name)
			}
		}
	}
}

// fieldsOf describes the fields of a Conn: of channels, maps and functions only whether they are
// there, and what a channel can hold.
func fieldsOf(conn *zk.Conn) (text string) {
	c := reflect.ValueOf(conn).Elem()
	for i := range c.NumField() {
		name := c.Type().Field(i).Name
		text += name
		switch f := field(c, name); f.Kind() {
		case reflect.Chan:
			text += fmt.Sprintln(!f.IsNil(), f.Cap())
		case reflect.Map, reflect.Func:
			text += fmt.Sprintln(!f.IsNil())
		default:
			text += fmt.Sprintf(" %#v\n", f.Interface())
		}
	}
	return text
}

// oneHost has one server, and lets the client pause after each dial.
type oneHost struct{}

func (oneHost) Init([]string) error  { return nil }
func (oneHost) Len() int             { return 1 }
func (oneHost) Connected()           {}
func (oneHost) Next() (string, bool) { return "host", true }
