package zkclient

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-zookeeper/zk"
)

// An Unsent request waits in the client's queue until there is a connection.
type Unsent struct {
	request reflect.Value
	text    string // operation and arguments
}

// TakeUnsent takes all requests out of the client's queue, except a close of the session. They are
// ordered by content: goroutines that have asked at the same instant are in the queue in any order.
// The client must be at rest, as at Fail.
func TakeUnsent(conn *zk.Conn) []Unsent {
	queue := field(reflect.ValueOf(conn).Elem(), "sendChan")
	var list []Unsent
	var closes []reflect.Value
	for r, ok := queue.TryRecv(); ok; r, ok = queue.TryRecv() {
		if opcode := field(r.Elem(), "opcode").Int(); opcode == opClose {
			closes = append(closes, r)
		} else {
			list = append(list, Unsent{r, textOf(opcode, field(r.Elem(), "pkt").Interface())})
		}
	}
	for _, r := range closes {
		queue.TrySend(r)
	}
	slices.SortStableFunc(list, func(a, b Unsent) int { return cmp.Compare(a.text, b.text) })
	return list
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

// Fail lets the caller of the request have an error.
func (u Unsent) Fail(err error) {
	channel := field(u.request.Elem(), "recvChan")
	response := reflect.New(channel.Type().Elem()).Elem()
	field(response, "zxid").SetInt(-1)
	field(response, "err").Set(reflect.ValueOf(err))
	channel.TrySend(response)
}
