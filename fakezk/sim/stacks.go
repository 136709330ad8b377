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
		if all == "" && s.guard.Runaway() == nil {
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
