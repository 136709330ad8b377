package wire

import "github.com/zksim/zksim/fakezk/internal/proto"

// DecodeConnectRequest decodes the payload of a connection's first frame. The
// shortest has 28 bytes: no password and no readOnly byte. Anything shorter is
// malformed; a server closes the connection.
func DecodeConnectRequest(frame []byte) (proto.ConnectRequest, error) {
	r := reader{rest: frame}
	var c proto.ConnectRequest
	c.ProtocolVersion = r.int32("connect.protocolVersion")
	c.LastZxidSeen = r.int64("connect.lastZxidSeen")
	c.TimeoutMs = r.int32("connect.timeOut")
	c.SessionID = r.int64("connect.sessionId")
	c.Password = r.buffer("connect.passwd")
	c.HasReadOnly, c.ReadOnly = r.readOnly()
	if r.err != nil {
		return proto.ConnectRequest{}, r.err
	}
	return c, nil
}

// DecodeConnectResponse decodes the payload of a connection's first reply.
func DecodeConnectResponse(frame []byte) (proto.ConnectResponse, error) {
	r := reader{rest: frame}
	var c proto.ConnectResponse
	c.ProtocolVersion = r.int32("connected.protocolVersion")
	c.TimeoutMs = r.int32("connected.timeOut")
	c.SessionID = r.int64("connected.sessionId")
	c.Password = r.buffer("connected.passwd")
	c.HasReadOnly, c.ReadOnly = r.readOnly()
	if r.err != nil {
		return proto.ConnectResponse{}, r.err
	}
	return c, nil
}

// AppendConnectRequest appends a whole frame with c.
func AppendConnectRequest(dst []byte, c proto.ConnectRequest) []byte {
	dst, start := beginFrame(dst)
	dst = appendInt32(dst, c.ProtocolVersion)
	dst = appendInt64(dst, c.LastZxidSeen)
	dst = appendInt32(dst, c.TimeoutMs)
	dst = appendInt64(dst, c.SessionID)
	dst = appendBuffer(dst, c.Password)
	dst = appendReadOnly(dst, c.HasReadOnly, c.ReadOnly)
	return endFrame(dst, start)
}

// AppendConnectResponse appends a whole frame with c. It has a readOnly byte
// only if c.HasReadOnly, as a server adds one only for a client that sent one.
func AppendConnectResponse(dst []byte, c proto.ConnectResponse) []byte {
	dst, start := beginFrame(dst)
	dst = appendInt32(dst, c.ProtocolVersion)
	dst = appendInt32(dst, c.TimeoutMs)
	dst = appendInt64(dst, c.SessionID)
	dst = appendBuffer(dst, c.Password)
	dst = appendReadOnly(dst, c.HasReadOnly, c.ReadOnly)
	return endFrame(dst, start)
}

// readOnly reads the byte that clients older than 3.4 do not send.
func (r *reader) readOnly() (has, value bool) {
	if len(r.rest) == 0 {
		return false, false
	}
	return true, r.bool("readOnly")
}

func appendReadOnly(dst []byte, has, value bool) []byte {
	if !has {
		return dst
	}
	return appendBool(dst, value)
}
