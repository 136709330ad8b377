package sim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// isRequest reports whether a frame of a client is a request of its script. A handshake begins with
// 0, and the requests of the client's library have negative numbers.
func isRequest(frame []byte) bool {
	return len(frame) >= 8 && int32(binary.BigEndian.Uint32(frame)) > 0
}

// compareFrames orders the requests that several goroutines of one client wrote
// within one step: any order would be right, this one is always the same. Equal
// requests stay as they came: only the goroutines that wait for them can tell them
// apart. SetWatches goes last, where this client's queue puts it nearly always.
func compareFrames(a, b []byte) int {
	return cmp.Or(
		cmp.Compare(frameRank(a), frameRank(b)), bytes.Compare(frameBody(a), frameBody(b)),
	)
}

func frameRank(f []byte) int {
	h, _, err := wire.DecodeHeader(f)
	switch {
	case err != nil:
		return 0
	case h.Op == proto.OpSetWatches:
		return 2
	case h.Op == proto.OpCloseSession:
		return 3
	}
	return 1
}

// frameBody leaves out the xid, which goroutines draw in arrival order.
func frameBody(f []byte) []byte { return f[min(4, len(f)):] }

// sortSetWatches rebuilds a SetWatches frame with sorted lists: the client builds them from a map.
func sortSetWatches(frame []byte) []byte {
	h, body, err := wire.DecodeHeader(frame)
	if err != nil {
		return frame
	}
	req, err := wire.DecodeRequest(h.Op, body)
	sw, ok := req.(*proto.SetWatches)
	if err != nil || !ok {
		return frame
	}
	slices.Sort(sw.DataWatches)
	slices.Sort(sw.ExistWatches)
	slices.Sort(sw.ChildWatches)
	return wire.AppendRequest(nil, h.Xid, sw)[4:]
}
