package realworld

import (
	"context"
	"fmt"
	"time"
)

// restart kills a server and starts it again after a while. Dials are refused until it is back. On
// a server that is down already it does nothing.
func (r *run) restart(server int, down time.Duration) {
	if r.down[server] {
		return
	}
	if len(r.down) == 0 {
		r.downFrom = r.now()
	}
	from := r.now()
	r.log("server", "%sgoes down for %s", r.subject(server), down)
	r.down[server] = true
	r.background.Add(1)
	go func() {
		defer r.background.Done()
		ctx, cancel := context.WithTimeout(context.Background(), r.real(down)+restartPatience)
		defer cancel()
		err := r.world.Servers[server].Restart(ctx, r.real(down))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.log("server", "%sis back", r.subject(server))
		r.out.Down = max(r.out.Down, r.now()-from)
		if delete(r.down, server); len(r.down) == 0 {
			r.downFor += r.now() - r.downFrom
		}
		if err != nil {
			r.failures = append(r.failures, err)
		}
	}()
}

// restartPatience is how long, in real time, a server may take to start.
const restartPatience = 2 * time.Minute

// failover kills the leader. The Network refuses all dials until it is known who leads.
func (r *run) failover(down time.Duration) {
	r.background.Add(1)
	go func() {
		defer r.background.Done()
		leader, _, err := r.leader(r.ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.failures = append(r.failures, fmt.Errorf("failover: %w", err))
			return
		}
		r.restart(leader, down)
		for i := range r.world.Servers {
			r.net.Revive(i)
		}
	}()
}

// subject begins a line about one of several servers, which have the numbers from 1.
func (r *run) subject(server int) string {
	if len(r.world.Servers) == 1 {
		return ""
	}
	return fmt.Sprintf("server %d ", server+1)
}

// toServer is the part of a line that says which of several servers a client has reached.
func (r *run) toServer(server int) string {
	if len(r.world.Servers) == 1 {
		return ""
	}
	return fmt.Sprintf(" to server %d", server+1)
}
