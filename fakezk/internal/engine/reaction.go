package engine

import (
	"iter"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// ConnID names a transport connection. The front chooses it and never reuses it.
type ConnID int64

// Output is one action on a connection. The front carries them out in order. A frame's
// bytes are valid until the next call of the engine.
type Output struct {
	Conn ConnID
	// Frame is the frame to send, with its length prefix, or nil with Close.
	Frame []byte
	// Close says to close the connection.
	Close bool
	// Event is set if the frame is a watch notification.
	Event *proto.WatcherEvent
}

// Applied is one transaction that the call let the leader decide, or a server apply.
type Applied struct {
	Txn    state.Txn
	Result state.Result
	// ByServer says that the transaction is the server's own and not a client's: an
	// expiry, the deletion of a container, or a request of Submit.
	ByServer bool
	// Notified has the sessions that the server has notified for each of Result.Events.
	Notified [][]int64
	// Watchers has the number of watchers for each of Result.Events.
	Watchers []Watchers
}

// Reaction is the effect of one call. Its slices are valid until the next call of the engine.
type Reaction struct {
	Out []Output
	// Applied are the transactions that were decided, in order. A single server has applied them.
	Applied []Applied
	// Followed are those that servers of an ensemble have applied, the leader included, in order.
	Followed []Applied
	// Request is the request that Handle answered.
	Request Request
}

// Request is a decoded frame and the reply to it.
type Request struct {
	// Handshake says that the frame was a connect request. Session is the session
	// of the connection after the frame, 0 if it was refused.
	Handshake bool
	Session   int64
	Header    proto.RequestHeader
	// Body is nil if the frame could not be decoded.
	Body proto.Request
	Zxid int64
	Err  proto.ErrCode
	// Reply is the body of the reply. Only two kinds of errors have one: a multi or multiRead that
	// cannot be carried out (with Err), and a multi that failed at one operation (without Err).
	Reply proto.Reply
	// Silent says that no reply was sent.
	Silent bool
	// TooLarge says that the reply to a read would be too large, and that the connection was closed
	// instead.
	TooLarge bool
}

// A Write is one changed node of a transaction.
type Write struct {
	Path string
	// Bytes is the length of the data written, 0 for a deletion.
	Bytes int
	// Owner is the session of an ephemeral node that was created, else 0.
	Owner int64
}

// Writes returns the nodes that were created, deleted or given data, in order. A change
// of an ACL is not included.
func (a *Applied) Writes() iter.Seq[Write] {
	return func(yield func(Write) bool) {
		for _, change := range a.Txn.Changes {
			var w Write
			switch c := change.(type) {
			case state.CreateNode:
				w = Write{Path: c.Path, Bytes: len(c.Data), Owner: c.Owner}
			case state.DeleteNode:
				w = Write{Path: c.Path}
			case state.SetData:
				w = Write{Path: c.Path, Bytes: len(c.Data)}
			default:
				continue
			}
			if !yield(w) {
				return
			}
		}
	}
}
