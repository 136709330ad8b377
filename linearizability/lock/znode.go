package lock

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// holderNodes finds the znodes in the server's log that belong to a call of a lock.
type holderNodes struct {
	history lin.History
	log     judging.Log
	kind    kind
	dir     string // of all znodes of the lock, or its znode
	holdDir string // of those through which it is held, or their znode
	opaque  bool   // tokens are not czxids
	handles bool   // a client may have several locks
	signals bool
}

func newHolderNodes(h lin.History, log judging.Log, kind kind, claims Claims) holderNodes {
	n := holderNodes{history: h, log: log, kind: kind, dir: claims.Path, handles: claims.Handles,
		signals: claims.Signals}
	n.holdDir = cmp.Or(claims.Nodes, claims.Path)
	n.opaque = !n.tokensAreCzxids()
	return n
}

// ownerOf returns the owner of a hold and the znode through which it is held, if they are known. If
// no znode fits, the client holds nothing, and phantom gives the reason.
func (n holderNodes) ownerOf(h *hold) (owner model.Owner, z *judging.Znode, phantom string) {
	owner = model.Owner{Client: h.lock.Client, Session: h.lock.Session}
	if h.second {
		z, phantom = n.ofSecondHold(h.lock)
	} else {
		z, phantom = n.ofHold(h.lock)
	}
	if owner.Session == 0 && z != nil {
		owner.Session = z.Owner
	}
	if phantom != "" && n.lostAtOnce(z, h.lock) {
		return model.Owner{Client: h.lock.Client, Session: z.Owner}, z, ""
	}
	if phantom != "" {
		z = nil // it proves nothing about this hold
	}
	return owner, z, phantom
}

// lostAtOnce reports whether the znode that a client made in a call went with its session, and the
// signal of loss came in the moment of the return: then the holder has learned all that its client
// knew before it could rely on the grant.
func (n holderNodes) lostAtOnce(z *judging.Znode, op lin.Op) bool {
	if z == nil || z.Creator != op.Client || z.Created < op.Call || !z.EndedWithSession() {
		return false
	}
	lost, told := signalTo(n.history, &hold{lock: op})
	return told && n.signals && lost.Time == op.ReturnTime
}

// ofHold finds the znode of a granted lock, or the reason why there is none. Both results are empty
// if the server's log does not show it. A client with a wrong token may have a znode all the same.
func (n holderNodes) ofHold(op lin.Op) (z *judging.Znode, phantom string) {
	op.Token = n.token(op)
	if !n.log.Known || op.Token == 0 && !n.usesEphemerals() {
		return nil, ""
	}
	z, phantom = n.ownOf(op)
	if phantom != "" && op.Token != 0 && n.kind.capacity == 1 {
		op.Token = 0
		own, why := n.ownOf(op)
		if own != nil && why == "" && own.ExistsAt(op.Return) {
			return own, ""
		}
	}
	return z, phantom
}

// ownOf returns the client's znode that exists when a lock returns. If there is none, it returns
// the last one, and the reason why the client holds nothing. Of a client with several locks, a
// znode in the session of the call counts first: the others may be those of another lock.
func (n holderNodes) ownOf(op lin.Op) (z *judging.Znode, phantom string) {
	var last, lastApart, apart *judging.Znode
	for _, z := range n.log.Znodes {
		switch {
		case !n.isOwn(z, op) || z.Created > op.Return:
		case n.handles && op.Session != 0 && z.Owner != op.Session:
			if lastApart = later(lastApart, z); z.ExistsAt(op.Return) {
				apart = cmp.Or(apart, z)
			}
		case z.ExistsAt(op.Return):
			if n.kind.counted && op.Token == 0 && n.hasOther(z, op) {
				return nil, "" // it is not known which of them is the lease
			}
			return z, cmp.Or(otherSession(z, op), n.deadSession(z, op))
		default:
			last = later(last, z)
		}
	}
	if last == nil && apart != nil {
		return apart, otherSession(apart, op)
	}
	last = cmp.Or(last, lastApart)
	phantom = n.whyPhantom(last, op)
	if phantom == "" && apart != nil {
		return apart, otherSession(apart, op)
	}
	return last, phantom
}

// later is the znode that was deleted later; the first may be nil.
func later(last, z *judging.Znode) *judging.Znode {
	if last == nil || z.Deleted >= last.Deleted {
		return z
	}
	return last
}

// hasOther reports whether the client has another znode than z at the end of a call.
func (n holderNodes) hasOther(z *judging.Znode, op lin.Op) bool {
	return slices.ContainsFunc(n.log.Znodes, func(other *judging.Znode) bool {
		return other != z && n.isOwn(other, op) && other.ExistsAt(op.Return)
	})
}

// firstEnd is the first end of a session of the znodes of which one is the hold's: those of several
// connections of a client, none of which tells its session.
func (n holderNodes) firstEnd(op lin.Op) (step int64, at time.Duration) {
	step = judging.Never
	for _, z := range n.log.Znodes {
		end, t := n.log.SessionEnd(z.Owner)
		if end < step && n.isOwn(z, op) && z.ExistsAt(op.Return) {
			step, at = end, t
		}
	}
	return step, at
}

// ofSecondHold is ofHold for a hold beside one in another mode: its znode is the last that the
// client created during the call. If there is none, one znode serves both holds. Then only the
// token identifies it: the client may exchange it for another later.
func (n holderNodes) ofSecondHold(op lin.Op) (z *judging.Znode, phantom string) {
	z = n.newest(op)
	switch {
	case !n.log.Known, z == nil && n.token(op) == 0:
		return nil, ""
	case z == nil:
		return n.ofHold(op)
	case z.ExistsAt(op.Return):
		return z, otherSession(z, op)
	}
	return z, n.whyPhantom(z, op)
}

// token returns the czxid of the client's znode, or 0 if it is not known.
func (n holderNodes) token(op lin.Op) int64 {
	if n.opaque {
		return 0
	}
	return op.Token
}

// tokensAreCzxids reports whether at least one token is the czxid of a znode that its own client
// had during the call, or all are czxids of the lock's znodes. Tokens of another source, such as a
// counter, are hardly ever czxids.
func (n holderNodes) tokensAreCzxids() bool {
	if !n.log.Known {
		return true // no evidence against it
	}
	all := true
	for _, op := range n.history.Ops {
		if op.Kind != n.kind.acquire || !op.OK() || op.Token == 0 {
			continue
		}
		known := false
		for _, z := range n.log.Znodes {
			if z.Czxid != op.Token || z.Created > op.Return {
				continue
			}
			known = known || z.Owner != 0 && judging.Within(n.holdDir, z.Path)
			own := z.Creator == "" || z.Creator == op.Client ||
				op.Session != 0 && z.Owner == op.Session
			if own && z.Deleted >= op.Call {
				return true
			}
		}
		all = all && known
	}
	return all
}

// usesEphemerals reports whether the lock is made of ephemerals, so that a holder must have one.
func (n holderNodes) usesEphemerals() bool {
	for _, z := range n.log.Znodes {
		if z.Owner != 0 && judging.Within(n.holdDir, z.Path) {
			return true
		}
	}
	return false
}

func (n holderNodes) isOwn(z *judging.Znode, op lin.Op) bool {
	switch {
	case op.Token != 0:
		return z.Czxid == op.Token
	case !judging.Within(n.holdDir, z.Path) || z.Owner == 0:
		return false
	}
	return op.Session != 0 && z.Owner == op.Session || z.Creator != "" && z.Creator == op.Client
}

// otherSession explains that a live znode is not the client's: it belongs to another session, and
// will be deleted with it. A recipe that finds its znode by name or by data may adopt the znode of
// another client, or that of its own session which has expired.
func otherSession(z *judging.Znode, op lin.Op) string {
	if op.Session == 0 || z.Owner == 0 || z.Owner == op.Session {
		return ""
	}
	if z.Creator != "" && z.Creator != op.Client {
		return fmt.Sprintf("it adopted %s, which client %s made at step %d in session 0x%x, "+
			"but the client is in session 0x%x", z.Path, z.Creator, z.Created, z.Owner, op.Session)
	}
	return fmt.Sprintf("%s belongs to session 0x%x, but the client is in session 0x%x",
		z.Path, z.Owner, op.Session)
}

// deadSession explains that a live znode will be deleted with its session, which had ended: before
// the call, so that no request of it can have been granted, or to the knowledge of the client. The
// session of the call need not be known: a hold belongs to the session that made its znode.
func (n holderNodes) deadSession(z *judging.Znode, op lin.Op) string {
	if z.Owner == 0 {
		return ""
	}
	end, _ := n.log.SessionEnd(z.Owner)
	if end < op.Call && !n.kind.betweenCalls {
		return fmt.Sprintf("%s belongs to session 0x%x, which had ended at step %d, before the call",
			z.Path, z.Owner, end)
	}
	if step, told := n.toldBefore(z, op); told {
		return fmt.Sprintf("%s belongs to session 0x%x, and the client was told at step %d that it "+
			"had ended", z.Path, z.Owner, step)
	}
	notice, told := judging.FirstNotice(n.history, op.Client, end, lin.SessionExpired)
	if end < op.Return && told && notice.Session == 0 && notice.Step < op.Return &&
		!n.hasOtherSession(z, end) {
		return fmt.Sprintf("%s belongs to session 0x%x, which had ended at step %d, and the client "+
			"was told so (%s) at step %d", z.Path, z.Owner, end, notice.Kind, notice.Step)
	}
	return ""
}

// toldBefore finds the step before the return of a call at which the client was told of the end of
// a znode's session. That may be before the session's end in the log, which is the end of its
// znodes: a server may take these later. A notice that names no session tells nothing if the client
// has, or had, another session of whose end it may be told then.
func (n holderNodes) toldBefore(z *judging.Znode, op lin.Op) (step int64, told bool) {
	for _, notice := range n.history.Notices {
		if notice.Client != op.Client || notice.Kind != lin.SessionExpired ||
			notice.Step >= op.Return {
			continue
		}
		switch {
		case notice.Session == z.Owner:
			return notice.Step, true
		case notice.Session == 0 && notice.Step > z.Created:
			return notice.Step, n.onlySession(op.Client, notice.Step) == z.Owner
		}
	}
	return 0, false
}

// onlySession is the only session of a client that had begun before a step and of whose end it had
// not been told, 0 if it is not known. Each session must have begun after the notice of the end of
// the one before it.
func (n holderNodes) onlySession(client string, step int64) (session int64) {
	for _, e := range n.history.Server {
		of := cmp.Or(n.log.Clients[judging.Subject(e)], client) // or nobody knows
		if judging.IsSessionEvent(e) && of == client &&
			n.started(judging.Subject(e)) == judging.Never {
			return 0 // it began before the log did
		}
	}
	for _, e := range n.history.Server {
		if e.Kind != lin.SessionStarted || e.Step >= step ||
			n.log.Clients[judging.Subject(e)] != client {
			continue
		}
		if session != 0 {
			notice, told := judging.FirstNotice(n.history, client, n.started(session),
				lin.SessionExpired)
			if !told || notice.Step > e.Step {
				return 0
			}
		}
		session = judging.Subject(e)
	}
	return session
}

// started is the step at which a session began.
func (n holderNodes) started(session int64) int64 {
	for _, e := range n.history.Server {
		if e.Kind == lin.SessionStarted && judging.Subject(e) == session {
			return e.Step
		}
	}
	return judging.Never
}

// hasOtherSession reports whether the creator of a znode competed in another session, too, that was
// alive at a step: a notice may be about that one.
func (n holderNodes) hasOtherSession(z *judging.Znode, step int64) bool {
	return slices.ContainsFunc(n.log.Znodes, func(other *judging.Znode) bool {
		end, _ := n.log.SessionEnd(other.Owner)
		return other.Owner != 0 && other.Owner != z.Owner && other.Creator == z.Creator &&
			other.Created < step && end > step && judging.Within(n.dir, other.Path)
	})
}

// whyPhantom explains why a client holds nothing if its last znode was gone when lock returned. It
// is empty if the session ended while the reply was on its way, which no recipe can prevent. It is
// not empty if the client had learned of the end, or had another session already. If clients
// compete between calls, the reply may have come before the call.
func (n holderNodes) whyPhantom(last *judging.Znode, op lin.Op) string {
	switch {
	case last == nil && op.Token != 0:
		return fmt.Sprintf("no znode with czxid %d was ever created", op.Token)
	case last == nil:
		return strings.TrimSuffix("it never created one at "+n.holdDir, " at ")
	case last.Deleted < op.Call && !n.kind.betweenCalls:
		by := last.RemovedByWhom() + " deleted it"
		if last.EndedWithSession() {
			by = "its session ended"
		}
		return fmt.Sprintf("%s was gone since step %d (%s), before the call", last.Path,
			last.Deleted, by)
	case last.RemovedBy(op.Client, op.Session):
		return fmt.Sprintf("it had deleted %s itself at step %d", last.Path, last.Deleted)
	}
	if other := otherSession(last, op); other != "" {
		return fmt.Sprintf("%s, and was deleted at step %d", other, last.Deleted)
	}
	notice, noticed := judging.FirstNotice(n.history, op.Client, last.Deleted, lin.SessionExpired,
		lin.LockLost)
	isAbout := notice.Session == 0 || notice.Session == last.Owner
	if noticed && isAbout && notice.Step < op.Return {
		return fmt.Sprintf("%s was deleted at step %d, and the client was told so (%s) at step %d",
			last.Path, last.Deleted, notice.Kind, notice.Step)
	}
	return ""
}

// newest returns the last ephemeral that the client made during the operation; an earlier one may
// be left from an attempt that it has given up.
func (n holderNodes) newest(op lin.Op) *judging.Znode {
	var newest *judging.Znode
	for _, z := range n.log.Znodes {
		if madeBy(z, op) && judging.Within(n.holdDir, z.Path) {
			newest = z
		}
	}
	return newest
}

// madeBy reports whether the client made the ephemeral during the operation.
func madeBy(z *judging.Znode, op lin.Op) bool {
	return z.Creator == op.Client && z.Owner != 0 && z.Created >= op.Call &&
		z.Created <= judging.End(op)
}

// isPartOf reports whether a pending operation needs the znode: of the znodes of its sort that its
// client created for it in that directory, it is the newest. One call may need one of each sort, as
// that of a writer which reads first.
func (n holderNodes) isPartOf(z *judging.Znode, op lin.Op) bool {
	if !madeBy(z, op) || !judging.Within(n.dir, z.Path) {
		return false
	}
	for _, other := range n.log.Znodes {
		if other.Created > z.Created && madeBy(other, op) && sortOf(other.Path) == sortOf(z.Path) {
			return false
		}
	}
	return true
}

// changing are the parts of a name that differ with each znode: numbers and GUIDs.
var changing = regexp.MustCompile(`[0-9a-f]{8,}|\d+`)

// sortOf is a path without what differs with each znode.
func sortOf(path string) string { return changing.ReplaceAllString(path, "") }

// oldest returns the oldest ephemeral that exists at a step and does not have the suffix, or nil.
func (n holderNodes) oldest(step int64, without string) *judging.Znode {
	var first *judging.Znode
	for _, z := range n.log.Znodes {
		if z.Owner != 0 && z.ExistsAt(step) && judging.Within(n.holdDir, z.Path) &&
			(without == "" || !strings.HasSuffix(z.Path, without)) &&
			(first == nil || z.Czxid < first.Czxid) {
			first = z
		}
	}
	return first
}
