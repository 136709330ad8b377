// Package wire encodes the values of package proto as ZooKeeper's frames and decodes
// them. It knows the layout of a record, not its meaning.
//
// # Frames
//
// Everything on a ZooKeeper connection is a frame: a big-endian int32 length and that many bytes of
// payload. The Append functions write whole frames, the length included. The Decode functions take
// the payload alone: the reader of the connection has read the length and compared it with
// [DefaultMaxFrame] or another limit.
//
//	first frame of a connection   ConnectRequest           ConnectResponse
//	every later request           RequestHeader + Request
//	every later reply             ReplyHeader + Reply      (no body on error)
//	notification                  ReplyHeader (xid -1) + WatcherEvent
//
// # Guarantees
//
//   - No decoder panics or reads beyond its input, for any input.
//   - A decoder allocates in proportion to its input: a vector with a count that cannot
//     fit in the frame is refused before anything is allocated.
//   - Decoded values share no memory with the frame: a caller may reuse the
//     buffer at once. (The body returned by a header decoder is the exception: it
//     is the rest of the frame, meant for the next decoder.)
//   - As in the Java server, bytes after the record are ignored, any non-zero byte is
//     a true boolean, and a vector with a count below -1 is empty.
//   - A null buffer or vector (length -1) is nil, an empty one is not nil.
//
// # Limits
//
// A null string is decoded as "". Only a null path and the null id of an ACL entry, which the Java
// server does not treat like "", are decoded as proto.Null. Bytes that are not UTF-8 are replaced
// by U+FFFD as in Java, see [Text]; no node has such a name. In replies and events a character
// beyond the basic multilingual plane takes six bytes, its surrogate pair, as from the Java server.
//
// # Adding an operation
//
// Give it a type in package proto, a case in decodeRequest, in appendRequestBody and in
// decodeReply, and, if its reply has a new shape, a case in appendReplyBody. The round-trip tests
// take requests and replies from the generators in generate_test.go.
//
// Source: zookeeper.jute, BinaryInputArchive.java, MultiOperationRecord.java and
// MultiResponse.java of ZooKeeper 3.8.
package wire

import "errors"

// DefaultMaxFrame is the length of the largest payload that a ZooKeeper server
// takes by default (jute.maxbuffer, 0xfffff). A larger or a negative length
// makes the server close the connection without an answer.
const DefaultMaxFrame = 1048575

var (
	// ErrUnknownOp means that this server does not implement the operation. A
	// server answers Unimplemented with zxid -1 and closes the connection.
	ErrUnknownOp = errors.New("unknown operation")

	// ErrMalformed means that a record cannot be decoded; the error that wraps
	// it names the field. For the body of a request a server answers
	// MarshallingError; for a header or a ConnectRequest it closes the connection.
	ErrMalformed = errors.New("malformed record")
)
