package fakezk

import (
	"fmt"
	"math"
)

// maxFirstZxid leaves zxids enough for any server's life.
const maxFirstZxid = math.MaxInt64 / 2

// LastZxid is the zxid of the last transaction, 0 on a fresh single server. If you call it after
// Snapshot, it is at least the zxid of the newest change in the snapshot.
func (s *Server) LastZxid() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine.Store().LastZxid()
}

// AdvanceZxid makes the zxid of the next transaction greater than the given one. It does nothing if
// the zxid would be greater anyway. A server refuses clients that have seen a higher zxid than its
// own. So pass the LastZxid of an earlier server, if its clients go on with this one. A zxid below
// 0, or above half of the largest int64, is an error.
func (s *Server) AdvanceZxid(zxid int64) error {
	if zxid < 0 || zxid > maxFirstZxid {
		return fmt.Errorf("fakezk: advance zxid to %d: expected 0 to %d", zxid, int64(maxFirstZxid))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensemble.catchUp()
	s.engine.SkipTo(zxid)
	return nil
}
