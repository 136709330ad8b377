package linearizability

import "fmt"

// ownNode finds the znode through which a granted lock is held, and says why
// there is none that could be: then the client holds a phantom. Both results are
// empty if the server's log does not tell.
func (c *lockCase) ownNode(op Op) (*life, string) {
	op.Token = c.token(op)
	if !c.log.known || op.Token == 0 && !c.usesEphemerals() {
		return nil, ""
	}
	var last *life
	for _, l := range c.log.lives {
		if !c.isOwn(l, op) || l.born > op.Return {
			continue
		}
		if l.aliveAt(op.Return) {
			return l, c.foreign(l, op)
		}
		if last == nil || l.died >= last.died {
			last = l
		}
	}
	return last, c.phantom(last, op)
}

// secondNode is ownNode for a hold whose token is that of another one: the znode
// is the last that its client made for it.
func (c *lockCase) secondNode(op Op) (*life, string) {
	l := c.newestNodeOf(op)
	switch {
	case !c.log.known:
		return nil, ""
	case l == nil:
		return nil, c.phantom(nil, Op{})
	case l.aliveAt(op.Return):
		return l, c.foreign(l, op)
	}
	return l, c.phantom(l, op)
}

// token returns the czxid of the client's znode, or 0 if it is not known.
func (c *lockCase) token(op Op) int64 {
	if c.opaque {
		return 0
	}
	return op.Token
}

// tokensAreCzxids reports whether at least one token is the czxid of a znode
// that its own client had during the call. A lock whose tokens are something
// else, a counter perhaps, has not one of these.
func (c *lockCase) tokensAreCzxids() bool {
	if !c.log.known {
		return true // nothing speaks against it
	}
	for _, op := range c.history.Ops {
		if op.Kind != c.kind.acquire || !op.ok() || op.Token == 0 {
			continue
		}
		for _, l := range c.log.lives {
			mine := l.creator == "" || l.creator == op.Client || op.Session != 0 && l.owner == op.Session
			if l.czxid == op.Token && mine && l.born <= op.Return && l.died >= op.Call {
				return true
			}
		}
	}
	return false
}

// usesEphemerals reports whether the lock is made of ephemerals, so that a
// holder must have one.
func (c *lockCase) usesEphemerals() bool {
	for _, l := range c.log.lives {
		if l.owner != 0 && below(c.dir(), l.path) {
			return true
		}
	}
	return false
}

func (c *lockCase) isOwn(l *life, op Op) bool {
	switch {
	case op.Token != 0:
		return l.czxid == op.Token
	case !below(c.dir(), l.path) || l.owner == 0:
		return false
	}
	return op.Session != 0 && l.owner == op.Session || l.creator != "" && l.creator == op.Client
}

// foreign says that a live znode is not the client's after all: it belongs to
// another session, and will go with that one. Recipes that look for their znode
// by name only fall into this after an expiry.
func (c *lockCase) foreign(l *life, op Op) string {
	if op.Session == 0 || l.owner == 0 || l.owner == op.Session {
		return ""
	}
	return fmt.Sprintf("%s belongs to session 0x%x, but the client is in session 0x%x", l.path, l.owner, op.Session)
}

// phantom judges a client that returned from lock when its last znode was gone.
// That is nobody's fault if the session ended while the good news was on its
// way, unless the client had been told, or is in another session already. Where
// clients compete between calls, the news may have come before the call.
func (c *lockCase) phantom(last *life, op Op) string {
	switch {
	case last == nil && op.Token != 0:
		return fmt.Sprintf("no znode with czxid %d was ever created", op.Token)
	case last == nil:
		return "it never created one"
	case last.died < op.Call && !c.kind.ahead:
		return fmt.Sprintf("%s was gone since step %d, before the call", last.path, last.died)
	case last.removedBy(op.Client, op.Session):
		return fmt.Sprintf("it had deleted %s itself at step %d", last.path, last.died)
	}
	if other := c.foreign(last, op); other != "" {
		return fmt.Sprintf("%s, and was deleted at step %d", other, last.died)
	}
	n, told := c.history.notice(op.Client, last.died, SessionExpired, LockLost)
	if told && n.Step < op.Return {
		return fmt.Sprintf("%s was deleted at step %d, and the client was told so (%s) at step %d", last.path, last.died, n.Kind, n.Step)
	}
	return ""
}
