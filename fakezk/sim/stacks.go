package sim

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/trace"
)

// begin notes that the calling goroutine runs the script of g; the function that it returns notes
// the end.
func (g *Goroutine) begin() (end func()) {
	id := bubble.Goroutine()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.scripts[g.number] = id
	g.begun = append(g.begun, id)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.scripts[g.number] = 0
	}
}

// scriptsSoFar is the client of each goroutine that has run a script. Clients whose connections the
// World does not close are left out.
func (s *simulation) scriptsSoFar() map[int64]string {
	all := map[int64]string{}
	for _, c := range s.clients {
		if c.abandoned {
			continue
		}
		c.mu.Lock()
		for _, id := range c.begun {
			all[id] = c.name
		}
		c.mu.Unlock()
	}
	return all
}

// noteBusy notes the clients with scripts that have not ended, and where these are. Of a runaway
// that is known already.
func (s *simulation) noteBusy() {
	var all string
	for _, c := range s.clients {
		if c.done {
			continue
		}
		if all == "" && s.runaway.Load() == nil {
			all = bubble.Stacks()
		}
		s.record.Busy(c.name, c.stacksIn(all))
	}
}

// stacksIn picks those of the client's scripts from the stacks of all goroutines.
func (c *Client) stacksIn(all string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kept []string
	for _, id := range c.scripts {
		for g := range trace.Stacks(all) {
			if strings.HasPrefix(g, fmt.Sprintf("goroutine %d ", id)) {
				kept = append(kept, g)
			}
		}
	}
	return strings.Clone(strings.Join(kept, "\n\n")) // all is large, and a Result may be kept
}

// senders returns the stacks of the goroutines that wait for replies on the client's connections.
func (c *Client) senders() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var senders []string
	for stack := range trace.Stacks(bubble.Stacks()) {
		for _, conn := range c.conns {
			if strings.Contains(stack, fmt.Sprintf("zk.(*Conn).request(%p,", conn.Conn)) {
				senders = append(senders, strings.Clone(stack))
			}
		}
	}
	return senders
}

// stacksOf returns the stacks of the goroutines left in a bubble.
func stacksOf(name string) string {
	var kept []string
	for g := range trace.Stacks(bubble.Stacks()) {
		header, _, _ := strings.Cut(g, "\n")
		ours := strings.Contains(g, "internal/bubble.Run") ||
			strings.Contains(g, "testing/synctest.")
		if strings.Contains(header, name) && !ours {
			kept = append(kept, g)
		}
	}
	return strings.Join(kept, "\n\n")
}

// lockedUp reports whether all goroutines of some stacks wait, and one of them for a mutex.
func lockedUp(stacks string) bool {
	locked := false
	for stack := range trace.Stacks(stacks) {
		locked = locked || trace.WaitsForMutex(stack)
	}
	return locked && !isRunning(stacks)
}

// onNetwork reports whether a goroutine of some stacks waits for the real network. One that rests
// waits for the World, which zksim go puts in the network's place, and one that runs may only be
// slow.
func onNetwork(stacks string) bool {
	for stack := range trace.Stacks(stacks) {
		if trace.UsesNetwork(stack) && trace.ActivityOf(stack) == trace.Waits {
			return true
		}
	}
	return false
}

// isRunning reports whether a goroutine of some stacks runs.
func isRunning(stacks string) bool {
	for stack := range trace.Stacks(stacks) {
		if stack != "" && trace.ActivityOf(stack) == trace.Runs {
			return true
		}
	}
	return false
}
