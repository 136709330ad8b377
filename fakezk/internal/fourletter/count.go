package fourletter

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Count adds the reaction to one call of the engine. frameBytes is the length of the
// handled frame without its prefix, 0 without one. Count must be called before the next
// call of the engine, best by its Config.Observe. It takes some 40 ns and allocates only
// for a new namespace or a new owner of ephemerals.
func (t *Traffic) Count(frameBytes int, r *engine.Reaction) {
	if frameBytes > 0 {
		t.BytesReceived += int64(frameBytes) + 4
		t.countRequest(r)
	} else {
		t.Updates += int64(len(r.Applied))
	}
	for i := range r.Out {
		t.countOutput(&r.Out[i], &r.Request)
	}
	for i := range r.Applied {
		t.countApplied(&r.Applied[i])
	}
	for i := range r.Followed {
		t.countWatchers(&r.Followed[i])
	}
}

// Reset resets the counters, as srst does.
func (t *Traffic) Reset() {
	*t = Traffic{
		WasReset:        true,
		NamespaceReads:  zeroed(t.NamespaceReads),
		NamespaceWrites: zeroed(t.NamespaceWrites),
		EphemeralOwners: t.EphemeralOwners,
	}
}

func zeroed(sums map[string]*Summary) map[string]*Summary {
	for _, sum := range sums {
		*sum = Summary{}
	}
	return sums
}

func (t *Traffic) countRequest(r *engine.Reaction) {
	switch req := &r.Request; {
	case req.Handshake:
		t.Connects++
		t.Updates += int64(len(r.Applied))
	case req.Header.Op == proto.OpAuth, req.Header.Op == proto.OpSasl:
		// not counted: the real server answers them before the request pipeline
	case len(r.Applied) > 0:
		t.Updates++
	default:
		t.Reads++
		t.countRead(req.Body, req.Reply)
	}
}

// statBytes is the size that the real server adds to every read for the stat.
const statBytes = 68

// countRead counts a successful read; a failed one has no such reply.
//
// Source: DataTree.updateReadStat.
func (t *Traffic) countRead(req proto.Request, reply proto.Reply) {
	switch req := req.(type) {
	case *proto.Exists:
		if _, ok := reply.(proto.StatReply); ok {
			countBytes(&t.NamespaceReads, req.Path, statBytes)
		}
	case *proto.GetData:
		if reply, ok := reply.(proto.DataReply); ok {
			countBytes(&t.NamespaceReads, req.Path, len(reply.Data)+statBytes)
		}
	case *proto.GetChildren:
		switch reply := reply.(type) {
		case proto.ChildrenReply:
			countBytes(&t.NamespaceReads, req.Path, t.lengths.of(reply.Names)+statBytes)
		case proto.ChildrenStatReply:
			countBytes(&t.NamespaceReads, req.Path, t.lengths.of(reply.Names)+statBytes)
		}
	case *proto.MultiRead:
		if reply, ok := reply.(proto.MultiReply); ok {
			for i := range min(len(req.Ops), len(reply.Results)) {
				t.countRead(req.Ops[i], reply.Results[i].Reply)
			}
		}
	}
}

// nameLengths adds up the lengths of names in Java. It keeps the last sum, as the store
// returns the same list until the children change.
type nameLengths struct {
	names []string
	total int
}

func (l *nameLengths) of(names []string) int {
	if len(names) == 0 {
		return 0
	}
	if len(names) == len(l.names) && &names[0] == &l.names[0] {
		return l.total
	}
	l.names, l.total = names, 0
	for _, name := range names {
		l.total += state.JavaLength(name)
	}
	return l.total
}

func (t *Traffic) countOutput(out *engine.Output, req *engine.Request) {
	if len(out.Frame) == 0 || req.Handshake {
		return
	}
	size := int64(len(out.Frame) - 4)
	t.Responses.add(size)
	switch {
	case out.Event != nil:
		t.WatchBytes += size
	case req.Header.Op != proto.OpPing:
		t.ResponseBytes += size
	}
}

// countApplied counts the writes of a transaction and the watchers of its events, and
// adds owners of ephemerals.
//
// Source: DataTree.updateWriteStat, WatchManager.triggerWatch.
func (t *Traffic) countApplied(a *engine.Applied) {
	t.countWatchers(a)
	for w := range a.Writes() {
		countBytes(&t.NamespaceWrites, w.Path, w.Bytes)
		t.own(w.Owner)
	}
	if a.Txn.Op == proto.OpCloseSession {
		t.Closes++
		delete(t.EphemeralOwners, a.Txn.Session)
	}
}

// countWatchers counts the watchers that a server has notified.
func (t *Traffic) countWatchers(a *engine.Applied) {
	for i, n := range a.Watchers {
		t.countFired(a.Result.Events[i].Type, n.Data)
		t.countFired(a.Result.Events[i].Type, n.Child)
	}
}

// countFired counts the watchers of an event in one table.
func (t *Traffic) countFired(ev proto.EventType, watchers int) {
	if watchers > 0 {
		t.Fired[ev].Add(int64(watchers))
	}
}

func (t *Traffic) own(session int64) {
	if session == 0 || t.EphemeralOwners[session] {
		return
	}
	if t.EphemeralOwners == nil {
		t.EphemeralOwners = map[int64]bool{}
	}
	t.EphemeralOwners[session] = true
}

// Bounds of the namespaces that are kept: clients choose the names, and a namespace stays when its
// nodes have gone. A real server has no bound.
const (
	mostNamespaces = 1000
	longestName    = 1 << 10 // bytes
)

// countBytes adds a path's length and some bytes to the namespace of the path, its first element.
// The root has none. Namespaces beyond the bounds are not counted.
func countBytes(sums *map[string]*Summary, path string, bytes int) {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if namespace == "" {
		return
	}
	sum := (*sums)[namespace]
	if sum == nil {
		if len(*sums) >= mostNamespaces || len(namespace) > longestName {
			return
		}
		if *sums == nil {
			*sums = map[string]*Summary{}
		}
		sum = &Summary{}
		(*sums)[strings.Clone(namespace)] = sum
	}
	sum.Add(int64(state.JavaLength(path) + bytes))
}
