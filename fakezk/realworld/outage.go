package realworld

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// outages are the restarts of servers. The method time locks the mutex, and so do the goroutines
// that wait for a server. All other methods are called with the mutex locked.
type outages struct {
	mu      *sync.Mutex
	clock   *clock
	journal *journal
	servers *servers
	proxy   *proxy

	down    map[int]bool  // the servers that are being restarted
	before  time.Duration // how long some server was down, without the outage under way
	since   time.Duration // when the outage under way began
	longest time.Duration
}

// restart kills a server and starts it again after a while. Dials are refused until it is back. On
// a server that is down already it does nothing.
func (o *outages) restart(server int, down time.Duration) {
	if o.down[server] {
		return
	}
	from := o.clock.now()
	if len(o.down) == 0 {
		o.since = from
	}
	o.journal.log("server", "%sgoes down for %s", o.servers.subject(server), down)
	o.down[server] = true
	o.proxy.background.Go(func() {
		down := o.clock.real(down)
		ctx, cancel := context.WithTimeout(context.Background(), down+restartPatience)
		defer cancel()
		err := o.servers.list[server].Restart(ctx, down)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.journal.log("server", "%sis back", o.servers.subject(server))
		o.longest = max(o.longest, o.clock.now()-from)
		if delete(o.down, server); len(o.down) == 0 {
			o.before += o.clock.now() - o.since
		}
		if err != nil {
			o.journal.fail(err)
		}
	})
}

// restartPatience is how long, in real time, a server may take to start.
const restartPatience = 2 * time.Minute

// failover kills the leader. The Network refuses all dials until it is known who leads.
func (o *outages) failover(down time.Duration) {
	o.proxy.background.Go(func() {
		leader, _, err := o.servers.leader(o.proxy.ctx)
		o.mu.Lock()
		defer o.mu.Unlock()
		if err != nil {
			o.journal.fail(fmt.Errorf("failover: %w", err))
			return
		}
		o.restart(leader, down)
		o.proxy.reviveAll()
	})
}

// time is how long some server has been down, in virtual time.
func (o *outages) time() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.down) > 0 {
		return o.before + o.clock.now() - o.since
	}
	return o.before
}
