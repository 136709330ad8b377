package zkclient

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
)

// Quiet is a zk.Logger that writes nothing.
type Quiet struct{}

func (Quiet) Printf(string, ...any) {}

// NoticeOf is what an event says of a client's session, if it is one that a trace
// tells of.
func NoticeOf(ev zk.Event) (kind trace.NoticeKind, ok bool) {
	if ev.Type != zk.EventSession {
		return "", false
	}
	switch ev.State {
	case zk.StateDisconnected:
		return trace.Disconnected, true
	case zk.StateHasSession:
		return trace.Connected, true
	case zk.StateExpired:
		return trace.SessionExpired, true
	}
	return "", false
}
