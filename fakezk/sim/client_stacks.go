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

// noteScripts notes the client's name for each goroutine that has run a script of the client.
func (c *Client) noteScripts(all map[int64]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.begun {
		all[id] = c.name
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
