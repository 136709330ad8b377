package fourletter

import "github.com/zksim/zksim/fakezk/internal/proto"

// Traffic is what a server counts of the requests it answered, since its start
// or since srst. The zero value is that of a server that has just started. Count
// and Reset keep the books.
type Traffic struct {
	// WasReset says that srst was answered since the start.
	WasReset bool
	// Updates are the requests that became a transaction, refused ones, beginnings
	// of sessions and the server's own included; Reads are all others, pings
	// included; Connects are the connect requests, Closes the ends of sessions.
	Reads, Updates, Connects, Closes int64
	// BytesReceived counts frames with their length prefix. ResponseBytes counts
	// replies, those to pings and connect requests left out, and WatchBytes
	// notifications, both without their prefix.
	BytesReceived, ResponseBytes, WatchBytes int64
	// Responses are the sizes of all replies and notifications without their
	// prefix, but for those to connect requests.
	Responses Sizes
	// Fired sums up how many watchers a table of watches had for one event, by
	// [proto.EventType], those included that may not be told. A deletion concerns
	// both tables.
	Fired [proto.EventChildrenChanged + 1]Summary
	// NamespaceReads and NamespaceWrites are the bytes read and written, by the
	// first element of the path. A read counts its path, its data or its
	// children's names, and 68 for the stat; a write its path and its data, a
	// delete its path alone. A namespace stays, with zeros, after srst.
	NamespaceReads, NamespaceWrites map[string]*Summary
	// EphemeralOwners are the sessions that own an ephemeral or have owned one;
	// dump lists them as long as they live.
	EphemeralOwners map[int64]bool

	lengths nameLengths
}

// Sizes are the last, least and greatest of some sizes in bytes. All zero means
// that there was none.
type Sizes struct{ Last, Min, Max int64 }

func (s *Sizes) add(size int64) {
	if *s == (Sizes{}) {
		s.Min = size
	}
	s.Last, s.Min, s.Max = size, min(s.Min, size), max(s.Max, size)
}

// Summary sums up some numbers. The zero value sums up none.
type Summary struct{ Count, Sum, Min, Max int64 }

// Add takes one more number into account.
func (s *Summary) Add(v int64) {
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Count++
	s.Sum += v
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
}

// timesZero sums up n zeros: n requests that took no time.
func timesZero(n int64) Summary { return Summary{Count: n} }

// counters gives the counters that are not zero on every standalone server.
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

// summaries gives the summaries that are not zero on every standalone server.
// The transactions of clients that wait for their answers are flushed one by
// one; what happens once at the start is forgotten by srst.
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
		"sync_processor_batch_size":              {Count: t.Updates, Sum: t.Updates, Min: min(t.Updates, 1), Max: min(t.Updates, 1)},
		"sync_processor_queue_and_flush_time_ms": timesZero(t.Updates),
		"sync_processor_queue_flush_time_ms":     timesZero(t.Updates),
		"sync_processor_queue_size":              timesZero(requests + atStart),
		"sync_processor_queue_time_ms":           timesZero(requests),
		"updatelatency":                          timesZero(t.Updates),
	}
}
