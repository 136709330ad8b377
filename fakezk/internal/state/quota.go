package state

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A quota on /a is a node /zookeeper/quota/a/zookeeper_limits; what it counts is
// the data of /zookeeper/quota/a/zookeeper_stats. The server keeps the latter up
// to date without a transaction: neither its stat but for the length of the data,
// nor watches know. A node counts for the nearest quota above it or on it, not
// for those further up.
//
// Two things stop the Java server for good, and are passed over here: limits right
// below /zookeeper/quota, and stats that are no statistics when it is time to
// change them.
//
// Source: DataTree.java, PathTrie.java, ZooKeeperServer.checkQuota.
const (
	systemRoot = "/zookeeper"
	quotaRoot  = "/zookeeper/quota"
	limitsName = "zookeeper_limits"
	statsName  = "zookeeper_stats"
)

// quotaNodeCreated starts a quota if path is that of its limits, and counts what
// there is if it is that of its stats.
func (s *Store) quotaNodeCreated(path string) {
	subject, ok := strings.CutPrefix(parentOf(path), quotaRoot)
	if !ok {
		return
	}
	switch nameOf(path) {
	case limitsName:
		s.limits[withoutBlanks(subject)] = true
	case statsName:
		s.recount(path, subject)
	}
}

// quotaNodeDeleted ends a quota if path is that of its limits. The Java server
// looks at all of /zookeeper and cuts off as much as if it were /zookeeper/quota.
func (s *Store) quotaNodeDeleted(path string) {
	if nameOf(path) != limitsName || !strings.HasPrefix(path, systemRoot) {
		return
	}
	if parent := []rune(parentOf(path)); len(parent) >= len(quotaRoot) {
		delete(s.limits, withoutBlanks(string(parent[len(quotaRoot):])))
	}
}

// withoutBlanks is a path as PathTrie sees it: without components of spaces.
func withoutBlanks(path string) string {
	var b strings.Builder
	for name := range strings.SplitSeq(path, "/") {
		if strings.TrimFunc(name, javaBlank) != "" {
			b.WriteString("/" + name)
		}
	}
	return b.String()
}

// quotaOn returns the path with the quota that a node at path counts for.
func (s *Store) quotaOn(path string) (string, bool) {
	if len(s.limits) == 0 {
		return "", false
	}
	for prefix := withoutBlanks(path); prefix != ""; prefix = prefix[:strings.LastIndexByte(prefix, '/')] {
		if s.limits[prefix] {
			return prefix, true
		}
	}
	return "", false
}

// recount makes the stats at path say how many nodes there are at and below
// subject, and how much data.
func (s *Store) recount(path, subject string) {
	var count, bytes int64
	if n, ok := s.find(subject); ok {
		n.each(func(n *node) {
			count++
			bytes += int64(len(n.data))
		})
	}
	if stats, ok := s.find(path); ok {
		stats.data = quotaTrack{trackCount: count, trackBytes: bytes}.data()
	}
}

// countQuota adds to the stats of the quota that a node at path counts for.
func (s *Store) countQuota(path string, bytes, count int) {
	subject, ok := s.quotaOn(path)
	if !ok {
		return
	}
	stats, ok := s.find(quotaRoot + subject + "/" + statsName)
	if !ok {
		return
	}
	track, ok := parseTrack(stats.data)
	if !ok {
		return
	}
	track[trackCount] = track.get(trackCount) + int64(count)
	track[trackBytes] = track.get(trackBytes) + int64(bytes)
	stats.data = track.data()
}

// checkQuota says whether a write may add bytes and nodes at path. Only a hard limit
// refuses, and only if the server enforces quotas. It looks at the stats as they
// are: operations of one multi do not see each other. MarshallingError means
// that limits or stats cannot be understood.
func (s *Store) checkQuota(path string, bytes, count int64) proto.ErrCode {
	if !s.cfg.EnforceQuota {
		return proto.OK
	}
	subject, ok := s.quotaOn(path)
	if !ok {
		return proto.OK
	}
	limits, err := s.track(subject, limitsName)
	if limits == nil {
		return err
	}
	counted := count != 0 && (limits.get(trackCount) > -1 || limits.get(trackCountHard) > -1)
	weighed := bytes != 0 && (limits.get(trackBytes) > -1 || limits.get(trackBytesHard) > -1)
	if !counted && !weighed {
		return proto.OK
	}
	stats, err := s.track(subject, statsName)
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

// track reads the limits or stats of a quota. It is nil, with OK, if there are none.
func (s *Store) track(subject, name string) (quotaTrack, proto.ErrCode) {
	n, ok := s.find(quotaRoot + subject + "/" + name)
	if !ok {
		return nil, proto.OK
	}
	track, ok := parseTrack(n.data)
	if !ok {
		return nil, proto.MarshallingError
	}
	return track, proto.OK
}
