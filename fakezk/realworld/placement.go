package realworld

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// places finds, for each entry of the log, the number of lines of the trace before it: the smallest
// possible one. A standalone server handles all requests one after the other, in one thread, and an
// answer carries the zxid of the newest change at that moment. In an ensemble the leader handles
// all writes so. A read there says nothing: its server may lag. So an entry is
//
//   - behind its own request on its way to the server;
//   - behind every request, in an ensemble every write, that was answered with a smaller zxid;
//   - in an ensemble, behind every sync that was answered with a smaller zxid, if that is possible;
//   - behind all lines that are older, by the clock, than it;
//   - not before any entry with a smaller zxid;
//   - before everything that came after an answer with its zxid or a greater one.
//
// A follower answers a sync when it has all changes that the leader had proposed by then. The
// leader answers a sync of its own client at once, and may apply a change later than a follower
// that has answered with it. Then the entry stays before the answer, and the sync does not count.
//
// For a guest the clock of an expiry is the last request of the session with its timeout. A busy
// server may read the request late or never, and the leader of an ensemble hears of requests at
// followers by and by, so it may end a session before that. Then the entry stays before the answer,
// too.
//
// The last rule is not needed to find the place. If it does not hold, the log and the proxy
// contradict each other.
func (x *exchanges) places(entries []proto.LogEntry, j *journal) ([]int, error) {
	answers := slices.DeleteFunc(slices.Clone(x.requests), func(q *request) bool {
		return q.received == 0 || q.Zxid <= 0 || q.Handshake
	})
	slices.SortStableFunc(answers, func(a, b *request) int { return cmp.Compare(a.Zxid, b.Zxid) })
	latest := latestFor(answers)
	places := make([]int, len(entries))
	place, synced, next := 0, 0, 0
	for i, e := range entries {
		for ; next < len(answers) && answers[next].Zxid < e.Zxid; next++ {
			switch op, sent := answers[next].Header.Op, answers[next].sent; {
			case !x.ensemble || op.IsWrite():
				place = max(place, sent)
			case op == proto.OpSync:
				synced = max(synced, sent)
			}
		}
		if next < len(answers) {
			place = max(place, min(synced, latest[next]))
		} else {
			place = max(place, synced)
		}
		if q := x.behind(e); q != nil {
			place = max(place, q.sent)
		}
		older := j.linesBefore(e.TimeMs)
		ended := e.Op == proto.OpCloseSession && e.Cxid == 0
		if ended && next < len(answers) && x.guest {
			older = min(older, latest[next]) // the server had not heard of it
		}
		place = max(place, older)
		if next < len(answers) && place > latest[next] {
			return nil, fmt.Errorf(
				"zxid %d of the log cannot have been applied before line %d of the "+
					"trace, and the server had answered with a zxid as great by line %d",
				e.Zxid, place, latest[next])
		}
		places[i] = place
	}
	return places, nil
}

// latestFor is, for each answer, the first line behind which it, or one with a
// greater zxid, had come.
func latestFor(answers []*request) []int {
	latest := make([]int, len(answers))
	for i := len(answers) - 1; i >= 0; i-- {
		latest[i] = answers[i].received
		if i+1 < len(answers) {
			latest[i] = min(latest[i], latest[i+1])
		}
	}
	return latest
}
