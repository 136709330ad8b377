package engine

import (
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Stats counts the frames of all connections.
type Stats struct{ Received, Sent int64 }

// connStats is what a server remembers of a connection's traffic.
type connStats struct {
	Stats
	last         lastOp
	lastCxid     int32
	lastZxid     int64
	lastResponse int64 // ms, 0 before the first
}

// lastOp is what the name of the last operation takes.
type lastOp struct {
	answered, reset bool
	op              proto.OpCode
	err             proto.ErrCode
	hasBody         bool // the request was understood
	hasReply        bool // the reply has a body
}

// countRequest notes a request that waits for its reply. Only those with an xid
// above 0 count, so what is answered without it waits for ever: a ping (its
// reply has another xid), a check that succeeds, a createSession.
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

// Stats counts the frames since the start, or since ResetStats.
func (e *Engine) Stats() Stats { return e.stats }

// ResetStats sets the server's counters to zero, as the word srst does.
func (e *Engine) ResetStats() { e.stats = Stats{} }

// ResetConnStats forgets the statistics of every connection, as the word crst does.
func (e *Engine) ResetConnStats() {
	for _, c := range e.conns {
		c.stats = connStats{last: lastOp{reset: true}, lastCxid: -1, lastZxid: -1}
	}
}

// countReceived notes a frame that came in.
func (e *Engine) countReceived(c *conn) {
	e.stats.Received++
	c.stats.Received++
}

// countSent notes a frame that goes out.
func (e *Engine) countSent(c *conn) {
	e.stats.Sent++
	c.stats.Sent++
}

// answered notes the last operation of a connection. A negative cxid, that of a
// ping for example, does not hide the client's last real operation.
//
// Source: ServerCnxn.updateStatsForResponse.
func (c *conn) answered(r *Request, now int64) {
	s := &c.stats
	if r.Header.Xid >= 0 {
		s.lastCxid = r.Header.Xid
	}
	s.last = lastOp{answered: true, op: r.Header.Op, err: r.Err, hasBody: r.Body != nil, hasReply: r.Reply != nil}
	s.lastZxid, s.lastResponse = r.Zxid, now
}

// word abbreviates the operation as the words cons and stat show it. A write
// that was refused is "NA", as the real server finds the error before the name,
// but for what it stumbles over: a multi with a null path, a malformed reconfig.
// Of a connection that has not been answered yet it prints a Java null.
//
// Source: FinalRequestProcessor.processRequest.
func (l lastOp) word() string {
	switch {
	case !l.answered && !l.reset:
		return "null"
	case l.op == proto.OpReconfig && l.answered && !l.hasBody:
		return "RECO"
	case l.op == proto.OpMulti && l.hasReply:
		return "MULT"
	case l.err != proto.OK && (state.IsWrite(l.op) || l.op == proto.OpCreateSession):
		return "NA"
	}
	if word, ok := opWords[l.op]; ok {
		return word
	}
	return "NA"
}

var opWords = map[proto.OpCode]string{
	proto.OpPing: "PING", proto.OpCreateSession: "SESS", proto.OpMulti: "MULT", proto.OpMultiRead: "MLTR",
	proto.OpCreate: "CREA", proto.OpCreate2: "CREA", proto.OpCreateTTL: "CREA", proto.OpCreateContainer: "CREA",
	proto.OpDelete: "DELE", proto.OpSetData: "SETD", proto.OpSetACL: "SETA", proto.OpCheck: "CHEC",
	proto.OpSync: "SYNC", proto.OpExists: "EXIS", proto.OpGetData: "GETD", proto.OpGetACL: "GETA",
	proto.OpGetChildren: "GETC", proto.OpGetChildren2: "GETC", proto.OpGetAllChildrenNumber: "GETACN",
	proto.OpSetWatches: "SETW", proto.OpSetWatches2: "STW2", proto.OpAddWatch: "ADDW",
	proto.OpCheckWatches: "CHKW", proto.OpRemoveWatches: "REMW",
	proto.OpWhoAmI: "HOMI", proto.OpGetEphemerals: "GETE",
}
