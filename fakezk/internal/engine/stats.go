package engine

import (
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Stats counts the frames of all connections.
type Stats struct{ Received, Sent int64 }

// connStats holds the statistics of a connection.
type connStats struct {
	Stats
	last         lastOp
	lastCxid     int32
	lastZxid     int64
	lastResponse int64 // ms, 0 before the first
}

// lastOp is the last operation of a connection, as far as its abbreviation needs it.
type lastOp struct {
	answered, reset bool
	op              proto.OpCode
	err             proto.ErrCode
	hasBody         bool // the request was decoded
	hasReply        bool // the reply has a body
}

// countRequest counts a request without a reply. Requests and replies count only with an
// xid above 0, so these stay in the count for ever: a ping (its reply has another xid),
// a check that succeeds and a createSession.
//
// Source: ServerCnxn.incrOutstandingAndCheckThrottle.
func (c *conn) countRequest(xid int32) {
	if xid > 0 {
		c.queued++
	}
}

func (c *conn) countReply(xid int32) {
	if xid > 0 {
		c.queued--
	}
}

// countReceived counts a frame of a client.
func (cs *connections) countReceived(c *conn) {
	cs.stats.Received++
	c.stats.Received++
}

// Stats counts the frames since the start, or since ResetStats.
func (e *Engine) Stats() Stats { return e.conns.stats }

// ResetStats sets the server's counters to zero, as the four-letter word srst does.
func (e *Engine) ResetStats() { e.conns.stats = Stats{} }

// ResetConnStats resets the statistics of every connection, as the four-letter word crst does.
func (e *Engine) ResetConnStats() {
	for _, c := range e.conns.open {
		c.stats = connStats{last: lastOp{reset: true}, lastCxid: -1, lastZxid: -1}
	}
}

// answered stores a request as the connection's last operation. A negative xid, such as
// a ping's, does not replace the last cxid.
//
// Source: ServerCnxn.updateStatsForResponse.
func (c *conn) answered(r *Request, now int64) {
	s := &c.stats
	if r.Header.Xid >= 0 {
		s.lastCxid = r.Header.Xid
	}
	s.last = lastOp{
		answered: true, op: r.Header.Op, err: r.Err,
		hasBody: r.Body != nil, hasReply: r.Reply != nil,
	}
	s.lastZxid, s.lastResponse = r.Zxid, now
}

// abbreviation returns the name of the operation in cons and stat. A refused write is "NA", since
// the real server handles the error before it sets the name; a multi with a null path and a
// malformed reconfig are exceptions. A connection without a reply so far has "null".
//
// Source: FinalRequestProcessor.processRequest.
func (l lastOp) abbreviation() string {
	switch {
	case !l.answered && !l.reset:
		return "null"
	case l.op == proto.OpReconfig && l.answered && !l.hasBody:
		return "RECO"
	case l.op == proto.OpMulti && l.hasReply:
		return "MULT"
	case l.err != proto.OK && (l.op.IsWrite() || l.op == proto.OpCreateSession):
		return "NA"
	}
	if short, ok := abbreviations[l.op]; ok {
		return short
	}
	return "NA"
}

var abbreviations = map[proto.OpCode]string{
	proto.OpPing:                 "PING",
	proto.OpCreateSession:        "SESS",
	proto.OpMulti:                "MULT",
	proto.OpMultiRead:            "MLTR",
	proto.OpCreate:               "CREA",
	proto.OpCreate2:              "CREA",
	proto.OpCreateTTL:            "CREA",
	proto.OpCreateContainer:      "CREA",
	proto.OpDelete:               "DELE",
	proto.OpSetData:              "SETD",
	proto.OpSetACL:               "SETA",
	proto.OpCheck:                "CHEC",
	proto.OpSync:                 "SYNC",
	proto.OpExists:               "EXIS",
	proto.OpGetData:              "GETD",
	proto.OpGetACL:               "GETA",
	proto.OpGetChildren:          "GETC",
	proto.OpGetChildren2:         "GETC",
	proto.OpGetAllChildrenNumber: "GETACN",
	proto.OpSetWatches:           "SETW",
	proto.OpSetWatches2:          "STW2",
	proto.OpAddWatch:             "ADDW",
	proto.OpCheckWatches:         "CHKW",
	proto.OpRemoveWatches:        "REMW",
	proto.OpWhoAmI:               "HOMI",
	proto.OpGetEphemerals:        "GETE",
}
