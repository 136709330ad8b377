package conform

import (
	"slices"
	"strings"
)

// agree reports whether two servers have done the same. When a session expires
// that is still connected, a real server sends the events of its own ephemerals
// and closes the connection from another thread: how many it still sends, and
// whether it stops within a frame, is left to chance. One server may then have
// sent more than the other, but nothing else.
func (s step) agree(seen [2]outcome) bool {
	if s.kind != stepExpire {
		return slices.Equal(seen[0], seen[1])
	}
	a, endA := parting(seen[0])
	b, endB := parting(seen[1])
	n := min(len(a), len(b))
	return endA == endB && slices.Equal(a[:n], b[:n])
}

// parting takes the last line off, if it tells that the connection was closed.
func parting(o outcome) (before outcome, closed bool) {
	if n := len(o); n > 0 && strings.HasPrefix(o[n-1], closedByServer) {
		return o[:n-1], true
	}
	return o, false
}
