// Package wire turns ZooKeeper's frames into the values of package proto and
// back. It knows how a record is laid out and nothing about what it means.
//
// # Frames
//
// Everything on a ZooKeeper connection is a frame: a big-endian int32 length
// and that many bytes of payload. The Append functions write whole frames, the
// length included. The Decode functions take the payload alone: whoever reads
// the connection has read the length already and has compared it with
// [DefaultMaxFrame] or a limit of its own.
//
//	first frame of a connection   ConnectRequest           ConnectResponse
//	every later request           RequestHeader + Request
//	every later reply             ReplyHeader + Reply      (no body on error)
//	notification                  ReplyHeader (xid -1) + WatcherEvent
//
// # Guarantees
//
//   - No decoder panics or reads beyond its input, whatever the bytes.
//   - A decoder allocates in proportion to its input: a vector that promises a
//     billion entries is refused before anything is allocated.
//   - Decoded values share no memory with the frame: a caller may reuse the
//     buffer at once. (The body returned by a header decoder is the exception: it
//     is the rest of the frame, meant for the next decoder.)
//   - Bytes after the record are ignored, any non-zero byte is a true boolean, a
//     vector with a count below -1 is empty: so does the Java server.
//   - A null buffer or vector (length -1) is nil, an empty one is not nil.
//
// # Limits
//
// A null string is decoded as "", except for a path and the id of an ACL entry,
// where the Java server makes a difference: there it is proto.Null. Bytes that are
// no UTF-8 are replaced by U+FFFD as Java does, see [Text]; no such string names a
// node. Replies and events write characters beyond the basic plane as the Java
// server does, in six bytes that are no UTF-8, and read them so.
//
// # Adding an operation
//
// Give it a type in package proto, a case in decodeRequest, a case in
// appendRequestBody, and, if its reply has a new shape, a case in appendReplyBody
// and an entry in replyDecoders. The round-trip tests pick it up from
// the generators in generate_test.go.
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
