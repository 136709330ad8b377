package main

import "encoding/binary"

// Operation codes, as ZooDefs.OpCode of ZooKeeper 3.8 numbers them.
const (
	opCreate       = 1
	opExists       = 3
	opGetData      = 4
	opSetData      = 5
	opGetACL       = 6
	opSetACL       = 7
	opGetChildren  = 8
	opSync         = 9
	opCheck        = 13
	opMulti        = 14
	opGetChildren2 = 12
	opCreate2      = 15
)

// headerBytes is the length of a reply's header: xid, zxid, error.
const headerBytes = 4 + 8 + 4

// canned are whole frames by operation, but for the xid. Operations beyond the
// table and those that are not in it are answered with a header alone, which is
// right for delete, ping, auth, setWatches and closeSession.
var canned = [...][]byte{
	opExists:       cannedFrame(cannedStat()),
	opGetData:      cannedFrame(appendBuffer(nil, nodeData), cannedStat()),
	opSetData:      cannedFrame(cannedStat()),
	opGetACL:       cannedFrame(cannedACL(), cannedStat()),
	opSetACL:       cannedFrame(cannedStat()),
	opGetChildren:  cannedFrame(cannedNames()),
	opGetChildren2: cannedFrame(cannedNames(), cannedStat()),
	opMulti:        cannedFrame(cannedMulti()),
	opCreate2:      nil,
}

var cannedHeader = cannedFrame()

// replyRoom is at least the length of the reply to a request.
func replyRoom(request []byte) int { return len(canned[opGetChildren2]) + len(request) }

// appendCanned appends the reply to a request: the one of its type, with its
// xid, and the path of the request where the reply has a path.
func appendCanned(out, request []byte) []byte {
	if len(request) < 8 {
		return out
	}
	reply := cannedHeader
	op := binary.BigEndian.Uint32(request[4:])
	if op < uint32(len(canned)) && canned[op] != nil {
		reply = canned[op]
	}
	start := len(out)
	out = append(out, reply...)
	switch op {
	case opCreate, opSync:
		out = appendPathOf(out, request[8:])
	case opCreate2:
		out = append(appendPathOf(out, request[8:]), cannedStatBytes[:]...)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	copy(out[start+4:], request[:4])
	return out
}

// appendPathOf copies the path that a request begins with.
func appendPathOf(out, body []byte) []byte {
	path, _, complete := cutFrame(body) // a string is written as a frame is
	if !complete {
		path = nil
	}
	return appendBuffer(out, path)
}

// appendHandshake answers a ConnectRequest: its timeout, a session, a password
// of 16 bytes, and the readOnly byte if the client sent one.
func appendHandshake(out, request []byte, session int64) []byte {
	const timeoutAt, withReadOnly = 4 + 8, 4 + 8 + 4 + 8 + 4 + 16 + 1
	n := uint32(4 + 4 + 8 + 4 + 16)
	if len(request) >= withReadOnly {
		n++
	}
	out = binary.BigEndian.AppendUint32(out, n)
	out = binary.BigEndian.AppendUint32(out, 0) // protocol version
	if len(request) >= timeoutAt+4 {
		out = append(out, request[timeoutAt:timeoutAt+4]...)
	} else {
		out = binary.BigEndian.AppendUint32(out, uint32(sessionTimeout.Milliseconds()))
	}
	out = binary.BigEndian.AppendUint64(out, uint64(session))
	out = appendBuffer(out, cannedPassword[:])
	if len(request) >= withReadOnly {
		out = append(out, 0)
	}
	return out
}

var (
	cannedPassword  [16]byte
	cannedStatBytes = [statBytes]byte(cannedStat())
)

// cannedFrame is a frame with a header of xid 0, zxid 1 and no error.
func cannedFrame(parts ...[]byte) []byte {
	frame := make([]byte, 4+headerBytes)
	frame[4+4+7] = 1
	for _, part := range parts {
		frame = append(frame, part...)
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// statBytes is the length of a Stat: czxid, mzxid, ctime, mtime, three versions,
// the owner, two lengths, pzxid.
const statBytes = 4*8 + 3*4 + 8 + 2*4 + 8

// cannedStat is the Stat of a node with nodeData.
func cannedStat() []byte {
	const ctimeAt, dataLengthAt = 16, 4*8 + 3*4 + 8
	stat := make([]byte, statBytes)
	binary.BigEndian.PutUint64(stat, 1)      // czxid
	binary.BigEndian.PutUint64(stat[8:], 1)  // mzxid
	binary.BigEndian.PutUint64(stat[60:], 1) // pzxid
	for at := ctimeAt; at < 4*8; at += 8 {
		binary.BigEndian.PutUint64(stat[at:], 1_700_000_000_000)
	}
	binary.BigEndian.PutUint32(stat[dataLengthAt:], dataBytes)
	return stat
}

func cannedNames() []byte {
	names := binary.BigEndian.AppendUint32(nil, childCount)
	for i := range childCount {
		names = appendBuffer(names, []byte(childName(i)))
	}
	return names
}

// cannedACL is world:anyone with all permissions.
func cannedACL() []byte {
	return appendEntry([]byte{0, 0, 0, 1}, "world", "anyone")
}

// cannedMulti answers the multi of operation "multi": check, setData, setData.
func cannedMulti() []byte {
	results := appendMultiHeader(nil, opCheck, false, 0)
	for range 2 {
		results = append(appendMultiHeader(results, opSetData, false, 0), cannedStat()...)
	}
	return appendMultiHeader(results, -1, true, -1)
}

func appendMultiHeader(dst []byte, op int32, done bool, code int32) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(op))
	if done {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

func appendBuffer(dst, p []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(p))), p...)
}
