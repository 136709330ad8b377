package zkclient

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
)

// Quiet is a zk.Logger that writes nothing.
type Quiet struct{}

func (Quiet) Printf(string, ...any) {}

// NoticeOf returns the notice of an event about a client's session, if a trace shows it.
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
