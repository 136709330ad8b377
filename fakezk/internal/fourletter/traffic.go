package fourletter

import "github.com/zksim/zksim/fakezk/internal/proto"

// Traffic holds the counters of a server since its start or since srst. The zero value
// is that of a new server. Count and Reset change it.
type Traffic struct {
	// WasReset says that srst was answered since the start.
	WasReset bool
	// Updates counts transactions, including refused ones, creations of sessions and
	// the server's own; Reads counts all other requests, including pings; Connects
	// counts connect requests, Closes ends of sessions.
	Reads, Updates, Connects, Closes int64
	// BytesReceived counts the bytes of frames with their length prefix.
	// ResponseBytes counts those of replies, except to pings and connect requests,
	// and WatchBytes those of notifications, both without the prefix.
	BytesReceived, ResponseBytes, WatchBytes int64
	// Responses has the sizes of replies, except to connect requests, and of
	// notifications, without their prefix.
	Responses Sizes
	// Fired sums up the number of watchers per event and watch table, by [proto.EventType],
	// including watchers that may not read the node. A deletion concerns both tables.
	Fired [proto.EventChildrenChanged + 1]Summary
	// NamespaceReads and NamespaceWrites sum up the bytes read and written, by the
	// first element of the path. A read has the bytes of its path, of its data or
	// its children's names, and 68 for the stat; a write those of its path and its
	// data, a delete those of its path. After srst a namespace stays, with zeros. A
	// thousand namespaces are kept, with names of up to 1 KiB.
	NamespaceReads, NamespaceWrites map[string]*Summary
	// EphemeralOwners are the live sessions that own an ephemeral or have owned one.
	// dump lists them.
	EphemeralOwners map[int64]bool

	lengths nameLengths
}

// Sizes has the last, the least and the greatest of some sizes in bytes. All are zero if
// there was none.
type Sizes struct{ Last, Min, Max int64 }

func (s *Sizes) add(size int64) {
	if *s == (Sizes{}) {
		s.Min = size
	}
	s.Last, s.Min, s.Max = size, min(s.Min, size), max(s.Max, size)
}

// Summary is the count, sum, minimum and maximum of some numbers. The zero value is that of none.
type Summary struct{ Count, Sum, Min, Max int64 }

// Add adds a number.
func (s *Summary) Add(v int64) {
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Count++
	s.Sum += v
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
}

// timesZero returns the summary of n zeros: of n requests that took no time.
func timesZero(n int64) Summary { return Summary{Count: n} }

// batchesOfOne returns the summary of n ones.
func batchesOfOne(n int64) Summary {
	return Summary{Count: n, Sum: n, Min: min(n, 1), Max: min(n, 1)}
}

// counters returns the counters that are not always zero on a standalone server.
func (s *Server) counters() map[string]int64 {
	t := &s.Traffic
	requests := t.Reads + t.Updates
	return map[string]int64{
		"bytes_received_count":          t.BytesReceived + 4*s.Words.Received,
		"connection_request_count":      t.Connects,
		"prep_processor_request_queued": requests,
		"response_bytes":                t.ResponseBytes,
		"sync_processor_request_queued": requests,
		"watch_bytes":                   t.WatchBytes,
	}
}

// summaries returns the summaries that are not always zero on a standalone server. It
// assumes that transactions are flushed one by one, as when each client waits for its
// reply. srst resets the counts of the server's start.
func (t *Traffic) summaries() map[string]Summary {
	requests, atStart := t.Reads+t.Updates, int64(1)
	if t.WasReset {
		atStart = 0
	}
	return map[string]Summary{
		"connection_token_deficit":               timesZero(t.Connects),
		"close_session_prep_time":                timesZero(t.Closes),
		"node_changed_watch_count":               t.Fired[proto.EventDataChanged],
		"node_children_watch_count":              t.Fired[proto.EventChildrenChanged],
		"node_created_watch_count":               t.Fired[proto.EventCreated],
		"node_deleted_watch_count":               t.Fired[proto.EventDeleted],
		"dbinittime":                             timesZero(atStart),
		"fsynctime":                              timesZero(t.Updates),
		"prep_process_time":                      timesZero(requests),
		"prep_processor_queue_size":              timesZero(requests + atStart),
		"prep_processor_queue_time_ms":           timesZero(requests),
		"propagation_latency":                    timesZero(t.Updates),
		"proposal_process_time":                  timesZero(requests),
		"readlatency":                            timesZero(t.Reads),
		"request_throttle_queue_time_ms":         timesZero(requests),
		"snapshottime":                           timesZero(atStart),
		"startup_snap_load_time":                 timesZero(atStart),
		"sync_process_time":                      timesZero(t.Updates),
		"sync_processor_batch_size":              batchesOfOne(t.Updates),
		"sync_processor_queue_and_flush_time_ms": timesZero(t.Updates),
		"sync_processor_queue_flush_time_ms":     timesZero(t.Updates),
		"sync_processor_queue_size":              timesZero(requests + atStart),
		"sync_processor_queue_time_ms":           timesZero(requests),
		"updatelatency":                          timesZero(t.Updates),
	}
}
