package state

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A quota on /a is a node /zookeeper/quota/a/zookeeper_limits; its counts are the data
// of /zookeeper/quota/a/zookeeper_stats. The server updates the counts without a
// transaction: of the stat only the length of the data changes, and no watch fires. A
// node counts for the nearest quota at or above it only.
//
// The Java server fails for good at limits directly below /zookeeper/quota, and when it
// updates a zookeeper_stats with malformed data. Both are ignored here.
//
// Source: DataTree.java, PathTrie.java, ZooKeeperServer.checkQuota.
const (
	systemRoot = "/zookeeper"
	quotaRoot  = "/zookeeper/quota"
	limitsName = "zookeeper_limits"
	statsName  = "zookeeper_stats"
)

// quotas has the paths with a quota, and the number of paths of each length: only those prefixes of
// a path are looked up that have such a length, so that a path with a hundred thousand elements is
// cheap.
type quotas struct {
	tree    *tree
	limits  map[string]bool
	lengths map[int]int // number of limits by the length of the path
}

func newQuotas(tree *tree) quotas {
	return quotas{tree: tree, limits: map[string]bool{}, lengths: map[int]int{}}
}

// nodeCreated starts a quota if path is the path of its limits, and counts the
// existing nodes if it is the path of its stats.
func (q *quotas) nodeCreated(path string) {
	subject, ok := strings.CutPrefix(parentOf(path), quotaRoot)
	if !ok {
		return
	}
	switch nameOf(path) {
	case limitsName:
		q.add(withoutBlanks(subject))
	case statsName:
		q.recount(path, subject)
	}
}

// nodeDeleted ends a quota if path is the path of its limits. The Java server does
// so anywhere below /zookeeper, and cuts off as many characters as /zookeeper/quota has.
func (q *quotas) nodeDeleted(path string) {
	if nameOf(path) != limitsName || !strings.HasPrefix(path, systemRoot) {
		return
	}
	if parent := []rune(parentOf(path)); len(parent) >= len(quotaRoot) {
		q.remove(withoutBlanks(string(parent[len(quotaRoot):])))
	}
}

func (q *quotas) add(path string) {
	if !q.limits[path] {
		q.limits[path] = true
		q.lengths[len(path)]++
	}
}

func (q *quotas) remove(path string) {
	if q.limits[path] {
		delete(q.limits, path)
		if q.lengths[len(path)]--; q.lengths[len(path)] == 0 {
			delete(q.lengths, len(path))
		}
	}
}

// withoutBlanks returns a path as PathTrie reads it, without blank components.
func withoutBlanks(path string) string {
	var b strings.Builder
	for name := range strings.SplitSeq(path, "/") {
		if strings.TrimFunc(name, javaBlank) != "" {
			b.WriteString("/" + name)
		}
	}
	return b.String()
}

// on returns the nearest path with a quota at or above path.
func (q *quotas) on(path string) (string, bool) {
	if len(q.limits) == 0 {
		return "", false
	}
	for above := withoutBlanks(path); above != ""; {
		if q.lengths[len(above)] > 0 && q.limits[above] {
			return above, true
		}
		above = above[:strings.LastIndexByte(above, '/')]
	}
	return "", false
}

// recount sets the stats at path to the number of nodes at and below subject and to the
// bytes of their data.
func (q *quotas) recount(path, subject string) {
	var size subtree
	if n, ok := q.tree.find(subject); ok {
		size = n.size
	}
	if stats, ok := q.tree.find(path); ok {
		q.setStats(path, stats, quotaTrack{
			trackCount: int64(size.nodes), trackBytes: size.bytes,
		})
	}
}

// setStats replaces the data of the stats at path.
func (q *quotas) setStats(path string, stats *node, track quotaTrack) {
	data := track.data()
	q.tree.addUsage(path, 0, len(data)-len(stats.data))
	stats.data = data
}

// count adds to the stats of the quota on path.
func (q *quotas) count(path string, bytes, count int) {
	subject, ok := q.on(path)
	if !ok {
		return
	}
	statsPath := quotaRoot + subject + "/" + statsName
	stats, ok := q.tree.find(statsPath)
	if !ok {
		return
	}
	track, ok := parseTrack(stats.data)
	if !ok {
		return
	}
	track[trackCount] = track.get(trackCount) + int64(count)
	track[trackBytes] = track.get(trackBytes) + int64(bytes)
	q.setStats(statsPath, stats, track)
}

// check refuses a write that adds bytes and nodes at path beyond a hard limit. It reads the stored
// stats, so the operations of one multi do not see each other's counts. MarshallingError means that
// limits or stats are malformed.
func (q *quotas) check(path string, bytes, count int64) proto.ErrCode {
	subject, ok := q.on(path)
	if !ok {
		return proto.OK
	}
	limits, err := q.track(subject, limitsName)
	if limits == nil {
		return err
	}
	counted := count != 0 && (limits.get(trackCount) > -1 || limits.get(trackCountHard) > -1)
	weighed := bytes != 0 && (limits.get(trackBytes) > -1 || limits.get(trackBytesHard) > -1)
	if !counted && !weighed {
		return proto.OK
	}
	stats, err := q.track(subject, statsName)
	if stats == nil {
		return err
	}
	if counted && exceeds(stats.get(trackCount)+count, limits.get(trackCountHard)) ||
		weighed && exceeds(stats.get(trackBytes)+bytes, limits.get(trackBytesHard)) {
		return proto.QuotaExceeded
	}
	return proto.OK
}

func exceeds(value, hardLimit int64) bool { return hardLimit > -1 && value > hardLimit }

// track returns the limits or stats of a quota, nil with OK if there are none.
func (q *quotas) track(subject, name string) (quotaTrack, proto.ErrCode) {
	n, ok := q.tree.find(quotaRoot + subject + "/" + name)
	if !ok {
		return nil, proto.OK
	}
	track, ok := parseTrack(n.data)
	if !ok {
		return nil, proto.MarshallingError
	}
	return track, proto.OK
}
