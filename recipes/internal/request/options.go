package request

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// Options are the settings of a recipe; see recipes.Option.
type Options struct {
	ACL            []zk.ACL
	Data           []byte
	SessionTimeout time.Duration
	Recheck        time.Duration
	Retry          Policy // nil: for ever
	Containers     bool
	Ephemeral      bool // elements of queues
	SyncOnly       bool // Confirm is Sync
	Observers      []func(Event)
}

// shortSessionTimeout is the shortest session timeout that a server grants by default: two ticks of
// two seconds.
const shortSessionTimeout = 4 * time.Second

// NewOptions applies opts over the defaults.
func NewOptions[O ~func(*Options)](opts []O) Options {
	o := Options{
		ACL: zk.WorldACL(zk.PermAll), Recheck: time.Minute, SessionTimeout: shortSessionTimeout,
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
