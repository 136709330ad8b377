package realworld

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
)

// outages are the restarts of servers, and the times in which they stand still or are cut off. The
// method time locks the mutex, and so do the goroutines that wait for a server. All other methods
// are called with the mutex locked.
type outages struct {
	mu      *sync.Mutex
	clock   *clock
	journal *journal
	servers *servers
	proxy   *proxy

	down    map[int]bool  // the servers that are being restarted
	spells  map[spell]int // how many of them are on
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

// A spell is a time in which a kind of fault keeps a server from its work.
type spell struct {
	server int
	kind   fault.Kind
}

// spell lets a server stand still, or cuts it off, for the time of a fault. Spells that overlap
// make one. A server that is down has none.
func (o *outages) spell(server int, f *carry.Armed, does string, set func(Server, bool) error) {
	if o.down[server] {
		return
	}
	key := spell{server, f.Kind}
	o.journal.log("server", "%s%s for %s", o.servers.subject(server), does, f.For)
	if o.spells[key]++; o.spells[key] == 1 {
		if err := set(o.servers.list[server], true); err != nil {
			o.journal.fail(fmt.Errorf("%s: %w", f.Kind, err))
		}
	}
	o.proxy.background.Go(func() {
		o.proxy.pause(f.For)
		o.mu.Lock()
		o.spells[key]--
		last := o.spells[key] == 0
		if last {
			o.journal.log("server", "%s%s no more", o.servers.subject(server), does)
		}
		o.mu.Unlock()
		if !last {
			return
		}
		if err := set(o.servers.list[server], false); err != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.journal.fail(fmt.Errorf("end of %s: %w", f.Kind, err))
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
