package linearizability

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zksim/zksim/model"
)

// lockNodes finds the znodes in the server's log that belong to a call of a lock.
type lockNodes struct {
	history History
	log     serverLog
	kind    lockKind
	dir     string // of all znodes of the lock, or its znode
	holdDir string // of those through which it is held, or their znode
	opaque  bool   // tokens are not czxids
}

func newLockNodes(h History, log serverLog, kind lockKind, claims Lock) lockNodes {
	n := lockNodes{history: h, log: log, kind: kind, dir: claims.Path}
	n.holdDir = cmp.Or(claims.Nodes, claims.Path)
	n.opaque = !n.tokensAreCzxids()
	return n
}

// ownerOf returns the owner of a hold and the znode through which it is held, if they are known. If
// no znode fits, the client holds nothing, and phantom gives the reason.
func (n lockNodes) ownerOf(h *hold) (owner model.Owner, z *znode, phantom string) {
	owner = model.Owner{Client: h.lock.Client, Session: h.lock.Session}
	if h.second {
		z, phantom = n.ofSecondHold(h.lock)
	} else {
		z, phantom = n.ofHold(h.lock)
	}
	if owner.Session == 0 && z != nil {
		owner.Session = z.owner
	}
	if phantom != "" {
		z = nil // it proves nothing about this hold
	}
	return owner, z, phantom
}

// ofHold finds the znode of a granted lock, or the reason why there is none. Both results are empty
// if the server's log does not show it. A client with a wrong token may have a znode all the same.
func (n lockNodes) ofHold(op Op) (z *znode, phantom string) {
	op.Token = n.token(op)
	if !n.log.known || op.Token == 0 && !n.usesEphemerals() {
		return nil, ""
	}
	z, phantom = n.ownOf(op)
	if phantom != "" && op.Token != 0 && n.kind.capacity == 1 {
		op.Token = 0
		if own, why := n.ownOf(op); why == "" && own.existsAt(op.Return) {
			return own, ""
		}
	}
	return z, phantom
}

// ownOf returns the client's znode that exists when a lock returns. If there is none, it returns
// the last one, and the reason why the client holds nothing.
func (n lockNodes) ownOf(op Op) (z *znode, phantom string) {
	var last *znode
	for _, z := range n.log.znodes {
		if !n.isOwn(z, op) || z.created > op.Return {
			continue
		}
		if z.existsAt(op.Return) {
			if n.kind.counted && op.Token == 0 && n.hasOther(z, op) {
				return nil, "" // it is not known which of them is the lease
			}
			return z, otherSession(z, op)
		}
		if last == nil || z.deleted >= last.deleted {
			last = z
		}
	}
	return last, n.whyPhantom(last, op)
}

// hasOther reports whether the client has another znode than z at the end of a call.
func (n lockNodes) hasOther(z *znode, op Op) bool {
	return slices.ContainsFunc(n.log.znodes, func(other *znode) bool {
		return other != z && n.isOwn(other, op) && other.existsAt(op.Return)
	})
}

// ofSecondHold is ofHold for a hold beside one in another mode: its znode is the last that the
// client created during the call. If there is none, one znode serves both holds. Then only the
// token identifies it: the client may exchange it for another later.
func (n lockNodes) ofSecondHold(op Op) (z *znode, phantom string) {
	z = n.newest(op)
	switch {
	case !n.log.known, z == nil && n.token(op) == 0:
		return nil, ""
	case z == nil:
		return n.ofHold(op)
	case z.existsAt(op.Return):
		return z, otherSession(z, op)
	}
	return z, n.whyPhantom(z, op)
}

// token returns the czxid of the client's znode, or 0 if it is not known.
func (n lockNodes) token(op Op) int64 {
	if n.opaque {
		return 0
	}
	return op.Token
}

// tokensAreCzxids reports whether at least one token is the czxid of a znode that its own client
// had during the call, or all are czxids of the lock's znodes. Tokens of another source, such as a
// counter, are hardly ever czxids.
func (n lockNodes) tokensAreCzxids() bool {
	if !n.log.known {
		return true // no evidence against it
	}
	all := true
	for _, op := range n.history.Ops {
		if op.Kind != n.kind.acquire || !op.ok() || op.Token == 0 {
			continue
		}
		known := false
		for _, z := range n.log.znodes {
			if z.czxid != op.Token || z.created > op.Return {
				continue
			}
			known = known || z.owner != 0 && within(n.holdDir, z.path)
			own := z.creator == "" || z.creator == op.Client ||
				op.Session != 0 && z.owner == op.Session
			if own && z.deleted >= op.Call {
				return true
			}
		}
		all = all && known
	}
	return all
}

// usesEphemerals reports whether the lock is made of ephemerals, so that a holder must have one.
func (n lockNodes) usesEphemerals() bool {
	for _, z := range n.log.znodes {
		if z.owner != 0 && within(n.holdDir, z.path) {
			return true
		}
	}
	return false
}

func (n lockNodes) isOwn(z *znode, op Op) bool {
	switch {
	case op.Token != 0:
		return z.czxid == op.Token
	case !within(n.holdDir, z.path) || z.owner == 0:
		return false
	}
	return op.Session != 0 && z.owner == op.Session || z.creator != "" && z.creator == op.Client
}

// otherSession explains that a live znode is not the client's: it belongs to another session, and
// will be deleted with it. A recipe that finds its znode by name or by data may adopt the znode of
// another client, or that of its own session which has expired.
func otherSession(z *znode, op Op) string {
	if op.Session == 0 || z.owner == 0 || z.owner == op.Session {
		return ""
	}
	if z.creator != "" && z.creator != op.Client {
		return fmt.Sprintf("it adopted %s, which client %s made at step %d in session 0x%x, "+
			"but the client is in session 0x%x", z.path, z.creator, z.created, z.owner, op.Session)
	}
	return fmt.Sprintf("%s belongs to session 0x%x, but the client is in session 0x%x",
		z.path, z.owner, op.Session)
}

// whyPhantom explains why a client holds nothing if its last znode was gone when lock returned. It
// is empty if the session ended while the reply was on its way, which no recipe can prevent. It is
// not empty if the client had learned of the end, or had another session already. If clients
// compete between calls, the reply may have come before the call.
func (n lockNodes) whyPhantom(last *znode, op Op) string {
	switch {
	case last == nil && op.Token != 0:
		return fmt.Sprintf("no znode with czxid %d was ever created", op.Token)
	case last == nil:
		return "it never created one"
	case last.deleted < op.Call && !n.kind.betweenCalls:
		return fmt.Sprintf("%s was gone since step %d, before the call", last.path, last.deleted)
	case last.removedBy(op.Client, op.Session):
		return fmt.Sprintf("it had deleted %s itself at step %d", last.path, last.deleted)
	}
	if other := otherSession(last, op); other != "" {
		return fmt.Sprintf("%s, and was deleted at step %d", other, last.deleted)
	}
	notice, noticed := FirstNotice(n.history, op.Client, last.deleted, SessionExpired, LockLost)
	if noticed && notice.Step < op.Return {
		return fmt.Sprintf("%s was deleted at step %d, and the client was told so (%s) at step %d",
			last.path, last.deleted, notice.Kind, notice.Step)
	}
	return ""
}

// newest returns the last ephemeral that the client made during the operation; an earlier one may
// be left from an attempt that it has given up.
func (n lockNodes) newest(op Op) *znode {
	var newest *znode
	for _, z := range n.log.znodes {
		if madeBy(z, op) && within(n.holdDir, z.path) {
			newest = z
		}
	}
	return newest
}

// madeBy reports whether the client made the ephemeral during the operation.
func madeBy(z *znode, op Op) bool {
	return z.creator == op.Client && z.owner != 0 && z.created >= op.Call && z.created <= End(op)
}

// isPartOf reports whether a pending operation needs the znode: of the znodes that its client
// created for it in that directory, it is the newest.
func (n lockNodes) isPartOf(z *znode, op Op) bool {
	if !madeBy(z, op) || !within(n.dir, z.path) {
		return false
	}
	for _, other := range n.log.znodes {
		if other.created > z.created && madeBy(other, op) &&
			path.Dir(other.path) == path.Dir(z.path) {
			return false
		}
	}
	return true
}

// oldest returns the oldest ephemeral that exists at a step and does not have the suffix, or nil.
func (n lockNodes) oldest(step int64, without string) *znode {
	var first *znode
	for _, z := range n.log.znodes {
		if z.owner != 0 && z.existsAt(step) && within(n.holdDir, z.path) &&
			(without == "" || !strings.HasSuffix(z.path, without)) &&
			(first == nil || z.czxid < first.czxid) {
			first = z
		}
	}
	return first
}
