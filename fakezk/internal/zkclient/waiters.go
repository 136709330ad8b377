package zkclient

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-zookeeper/zk"
)

// A Request is one that a goroutine waits for and that the client has given up: by Fail the
// goroutine hears of it.
type Request struct {
	request reflect.Value
	text    string // operation and arguments
}

// TakeUnsent takes all requests out of the client's queue, except a close of the session. They are
// ordered by content: goroutines that have asked at the same instant are in the queue in any order.
// The client must be at rest, as at Fail.
func TakeUnsent(conn *zk.Conn) []Request {
	queue := field(reflect.ValueOf(conn).Elem(), "sendChan")
	var list []Request
	var closes []reflect.Value
	for r, ok := queue.TryRecv(); ok; r, ok = queue.TryRecv() {
		if opcode := field(r.Elem(), "opcode").Int(); opcode == opClose {
			closes = append(closes, r)
		} else {
			list = append(list, requestOf(r))
		}
	}
	for _, r := range closes {
		queue.TrySend(r)
	}
	sortRequests(list)
	return list
}

// TakePending takes all requests that have no reply out of the client's table. They are ordered by
// content, and then as they were sent. Call it before the client fails them itself: in its callback
// for zk.StateDisconnected.
func TakePending(conn *zk.Conn) []Request {
	c := reflect.ValueOf(conn).Elem()
	lock := mutex(c, "requestsLock")
	lock.Lock()
	defer lock.Unlock()
	requests := field(c, "requests")
	xids := requests.MapKeys()
	slices.SortFunc(xids, func(a, b reflect.Value) int { return cmp.Compare(a.Int(), b.Int()) })
	var list []Request
	for _, xid := range xids {
		list = append(list, requestOf(requests.MapIndex(xid)))
	}
	requests.Clear()
	sortRequests(list)
	return list
}

func requestOf(r reflect.Value) Request {
	return Request{r, textOf(field(r.Elem(), "opcode").Int(), field(r.Elem(), "pkt").Interface())}
}

func sortRequests(list []Request) {
	slices.SortStableFunc(list, func(a, b Request) int { return cmp.Compare(a.text, b.text) })
}

// opClose is the operation that closes a session.
const opClose = -11

// textOf names a request. JSON follows pointers, and so is the same in each run.
func textOf(opcode int64, arguments any) string {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(fmt.Sprintf("fakezk: a request of the go-zookeeper client as text: %v", err))
	}
	return fmt.Sprintf("%d %s", opcode, text)
}

// Fail lets the goroutine that waits for the request have an error.
func (r Request) Fail(err error) {
	channel := field(r.request.Elem(), "recvChan")
	response := reflect.New(channel.Type().Elem()).Elem()
	field(response, "zxid").SetInt(-1)
	field(response, "err").Set(reflect.ValueOf(err))
	channel.TrySend(response)
}

// A Watch is one that the client has forgotten: by Fire the goroutine with its channel hears of it.
type Watch struct {
	channel chan zk.Event
	event   zk.Event
	session reflect.Value // the client's channel of session events, if the event goes there as well
	quit    reflect.Value // closed when the client is
}

// TakeWatches takes the watches that an event ends out of the client's table: those of a path, or
// all if the session has expired. They are ordered by path and kind, and then as they were made.
// Call it in the client's callback for the event.
func TakeWatches(conn *zk.Conn, ev zk.Event) []Watch {
	kinds, ends := endedBy[ev.Type]
	expired := ev.Type == zk.EventSession && ev.State == zk.StateExpired
	if !ends && !expired {
		return nil
	}
	c := reflect.ValueOf(conn).Elem()
	lock := mutex(c, "watchersLock")
	lock.Lock()
	defer lock.Unlock()
	watchers := field(c, "watchers")
	var keys []reflect.Value
	for _, key := range watchers.MapKeys() {
		if expired || pathOf(key) == ev.Path && slices.Contains(kinds, kindOf(key)) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return cmp.Or(cmp.Compare(pathOf(a), pathOf(b)), cmp.Compare(kindOf(a), kindOf(b)))
	})
	var list []Watch
	for _, key := range keys {
		w := Watch{event: ev}
		if expired {
			w = Watch{event: zk.Event{Type: zk.EventNotWatching, State: zk.StateDisconnected,
				Path: pathOf(key), Err: zk.ErrSessionExpired},
				session: field(c, "eventChan"), quit: field(c, "shouldQuit")}
		}
		for _, w.channel = range watchers.MapIndex(key).Interface().([]chan zk.Event) {
			list = append(list, w)
			w.session = reflect.Value{} // once for each path and kind
		}
		watchers.SetMapIndex(key, reflect.Value{})
	}
	return list
}

// endedBy are the kinds of watches that an event ends, as the client numbers them: of data, of
// existence, of children.
var endedBy = map[zk.EventType][]int64{
	zk.EventNodeCreated:         {1},
	zk.EventNodeDataChanged:     {0, 1},
	zk.EventNodeChildrenChanged: {2},
	zk.EventNodeDeleted:         {0, 1, 2},
}

func pathOf(key reflect.Value) string { return key.FieldByName("path").String() }
func kindOf(key reflect.Value) int64  { return key.FieldByName("wType").Int() }

// Fire lets the goroutine with the watch's channel hear of the event.
func (w Watch) Fire() {
	if w.session.IsValid() && !isClosed(w.quit) {
		w.session.TrySend(reflect.ValueOf(w.event))
	}
	w.channel <- w.event // has room for one
	close(w.channel)
}

// isClosed reports whether a channel on which nobody sends is closed.
func isClosed(channel reflect.Value) bool {
	v, open := channel.TryRecv()
	return v.IsValid() && !open
}
