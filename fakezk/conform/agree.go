package conform

import (
	"slices"
	"strings"
)

// agree reports whether the outcomes of a step on two servers agree. When a connected session
// expires, a real server sends the events of its own ephemerals and closes the connection from
// another thread: how many it sends, and whether it stops within a frame, depends on chance. The
// outcomes of stepExpire therefore agree if one begins with the other.
func (s step) agree(seen [2]outcome) bool {
	if s.kind != stepExpire {
		return slices.Equal(seen[0], seen[1])
	}
	a, endA := cutClosing(seen[0])
	b, endB := cutClosing(seen[1])
	n := min(len(a), len(b))
	return endA == endB && slices.Equal(a[:n], b[:n])
}

// cutClosing removes the last line if it says that the connection was closed.
func cutClosing(o outcome) (before outcome, closed bool) {
	if n := len(o); n > 0 && strings.HasPrefix(o[n-1], closedByServer) {
		return o[:n-1], true
	}
	return o, false
}
