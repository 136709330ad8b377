package zkclient

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/go-zookeeper/zk"
)

// A Kept reply is one that the client may have, but not the goroutine that waits for it.
//
// The client finds the channel of that goroutine in its table of pending requests. A Kept has put
// another channel there, so that the client goes on with all else that a reply or the end of the
// connection means.
type Kept struct {
	lock    *sync.Mutex
	channel reflect.Value // where the client finds it
	waiting reflect.Value // the channel of the goroutine
	kept    reflect.Value // ours
}

// Keep keeps the reply to a pending request, or the error that takes its place, until Release. The
// client must be at rest at the calls of both. ok is false if the client has no such request.
func Keep(conn *zk.Conn, xid int32) (k *Kept, ok bool) {
	c := reflect.ValueOf(conn).Elem()
	lock := mutex(c, "requestsLock")
	lock.Lock()
	defer lock.Unlock()
	request := field(c, "requests").MapIndex(reflect.ValueOf(xid))
	if !request.IsValid() {
		return nil, false
	}
	channel := field(request.Elem(), "recvChan")
	waiting := reflect.ValueOf(channel.Interface())
	k = &Kept{lock, channel, waiting, reflect.MakeChan(waiting.Type(), waiting.Cap())}
	channel.Set(k.kept)
	return k, true
}

// Release hands over the kept bytes, and lets later ones pass.
func (k *Kept) Release() {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.channel.Set(k.waiting)
	for {
		reply, ok := k.kept.TryRecv()
		if !ok {
			return
		}
		k.waiting.TrySend(reply)
	}
}

// mutex is a field of a struct of the client that is one.
func mutex(of reflect.Value, name string) *sync.Mutex {
	return field(of, name).Addr().Interface().(*sync.Mutex)
}

// field is a field of a struct of the client, although it is not exported.
func field(of reflect.Value, name string) reflect.Value {
	return fieldAt(of, indexOf(of.Type(), name))
}

// fieldAt is the i-th field, although it is not exported.
func fieldAt(of reflect.Value, i int) reflect.Value {
	f := of.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// indexOf finds a field. It remembers the indices: to look for a name takes longer than to use one.
func indexOf(of reflect.Type, name string) int {
	known := fieldName{of, name}
	indicesMu.Lock()
	defer indicesMu.Unlock()
	if i, ok := indices[known]; ok {
		return i
	}
	f, ok := of.FieldByName(name)
	if !ok || len(f.Index) != 1 {
		panic(fmt.Sprintf("fakezk: the go-zookeeper client's %s has no field %s: zksim needs "+
			"v1.0.4", of, name))
	}
	indices[known] = f.Index[0]
	return f.Index[0]
}

type fieldName struct {
	of   reflect.Type
	name string
}

// indices are those of the fields that were looked for. It is no sync.Map, which draws a number at
// its first use: that would tell the first World of the process from later ones.
var (
	indicesMu sync.Mutex
	indices   = map[fieldName]int{}
)
