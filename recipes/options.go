package recipes

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// Option changes a setting of a recipe when it is made.
type Option func(*options)

type options struct {
	acl            []zk.ACL
	data           []byte
	sessionTimeout time.Duration
	recheck        time.Duration
	retry          RetryPolicy // nil: RetryForever
	containers     bool
	ephemeral      bool // elements of queues
	observers      []func(Event)
}

// shortSessionTimeout is the shortest session timeout that a server grants by default: two ticks of
// two seconds.
const shortSessionTimeout = 4 * time.Second

// newOptions applies opts over the defaults.
func newOptions(opts []Option) options {
	o := options{
		acl: zk.WorldACL(zk.PermAll), recheck: time.Minute, sessionTimeout: shortSessionTimeout,
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// ACL sets the access control list of every node that the recipe creates, parents included. Without
// it every client may do everything.
func ACL(acl ...zk.ACL) Option {
	acl = slices.Clone(acl)
	return func(o *options) { o.acl = acl }
}

// Data sets the data of the node by which a handle queues or holds: that of a lock, a lease, a
// turn, a candidate, or of a barrier. It helps people that look at the tree: a host name, for
// instance. Recipes that keep other data in their nodes ignore it; the constructors name the
// options that matter.
func Data(data []byte) Option {
	data = bytes.Clone(data)
	return func(o *options) { o.data = data }
}

// SessionTimeout sets how long a hold outlives its connection: Lost is closed when the connection
// has been down so long that the session may have expired at the server. timeout is the session
// timeout that the server has granted. The client does not tell it, so the default is 4 s, the
// shortest timeout that a server grants by default. Lost is then closed about 1 s after the client
// has seen the connection go down.
//
// Give the granted timeout if it is longer, so that a hold outlives longer reconnections: of a
// client that knows one server only each takes more than a second. Give it if the server is
// configured to grant shorter ones: with the default Lost is closed too late there. When in doubt
// give a smaller one. With zero or less Lost is not closed for this reason: a holder that is cut
// off learns of the end of its session only when it reaches a server again.
//
// The client notices a silent connection after two thirds of the timeout, so no more than a third
// of it is left from the moment the connection is seen to be down. This is measured on the
// monotonic clock, by looking at Conn.State twenty times per timeout, without any request. It
// assumes that the clocks of client and server run at the same rate and that a reply takes less
// than a tenth of the timeout. A process that is paused at the wrong moment learns too late all the
// same.
func SessionTimeout(timeout time.Duration) Option {
	return func(o *options) { o.sessionTimeout = timeout }
}

// RecheckEvery sets how often a recipe that waits, or keeps something up to date, looks again
// without having been notified. A recipe with many nodes reads all of them at least that often, in
// spite of notifications in between. The default is one minute; zero or less relies on watches
// alone.
//
// It is needed because the client can lose a change. On a reconnection it asks for the changes
// since the newest zxid in any reply. So it never hears of a change before a reply that came just
// before the connection was lost again. It also only logs a failure to set its watches again
// (samuel/go-zookeeper issue 83).
func RecheckEvery(interval time.Duration) Option {
	return func(o *options) { o.recheck = interval }
}

// Retry sets when the requests of an operation are repeated. Without it they are repeated for as
// long as the operation's context allows (RetryForever).
//
// When the policy gives up, the operation ends as if its context were done: the error wraps
// ErrGaveUp and the last failure and says how often the request was sent; it wraps ErrAmbiguous,
// too, if it is unknown whether the operation was applied. No policy bounds clean-up, which goes on
// in the background, nor the background work of a recipe.
func Retry(policy RetryPolicy) Option {
	return func(o *options) { o.retry = policy }
}

// Containers makes a recipe create missing parents as container nodes, which the server removes
// some time after their last child is gone, so that unused directories do not pile up. Servers
// before 3.5 have none: there the parents become persistent ones. Parents that exist are left as
// they are.
func Containers() Option {
	return func(o *options) { o.containers = true }
}

// EphemeralElements makes the elements that are offered through a queue's handle go with the
// session that has offered them, unless they are taken before. Without it elements stay until they
// are taken. An element can be gone when Offer returns, as its session can end at any time; it is
// not offered again.
func EphemeralElements() Option {
	return func(o *options) { o.ephemeral = true }
}
