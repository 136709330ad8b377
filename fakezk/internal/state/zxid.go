package state

// SkipTo makes the next Txn's zxid follow a given one, as a server goes on after
// the zxid of the snapshot that it loads: no Txn says so and nothing fires. It
// does nothing if the zxids are beyond that already. Stores that are to stay equal
// need the same calls.
//
// Source: ZooKeeperServer.loadData.
func (s *Store) SkipTo(zxid int64) {
	s.last, s.drawn = max(s.last, zxid), max(s.drawn, zxid)
}
