package state

// SkipTo sets the last zxid, as a server does that loads a snapshot: without a Txn or an
// event. The next Txn has the zxid after it. It does nothing if the last zxid is greater
// already. Stores that are to stay equal need the same calls.
//
// Source: ZooKeeperServer.loadData.
func (s *Store) SkipTo(zxid int64) {
	s.last, s.drawn = max(s.last, zxid), max(s.drawn, zxid)
}
