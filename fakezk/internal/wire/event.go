package wire

import "github.com/zksim/zksim/fakezk/internal/proto"

// eventHeader is the header of every notification of a 3.8 server. Newer servers
// send the zxid of the change.
var eventHeader = proto.ReplyHeader{Xid: -1, Zxid: -1, Err: proto.OK}

// AppendEvent appends a whole frame that notifies a client of ev.
func AppendEvent(dst []byte, ev proto.WatcherEvent) []byte {
	dst, start := beginFrame(dst)
	dst = appendReplyHeader(dst, eventHeader)
	dst = appendInt32(dst, int32(ev.Type))
	dst = appendInt32(dst, ev.State)
	dst = appendText(dst, ev.Path)
	return endFrame(dst, start)
}

// DecodeEvent decodes the body of a notification, a reply with xid -1.
func DecodeEvent(body []byte) (proto.WatcherEvent, error) {
	r := reader{rest: body, fromServer: true}
	var ev proto.WatcherEvent
	ev.Type = proto.EventType(r.int32("event.type"))
	ev.State = r.int32("event.state")
	ev.Path = r.path()
	if r.err != nil {
		return proto.WatcherEvent{}, r.err
	}
	return ev, nil
}
