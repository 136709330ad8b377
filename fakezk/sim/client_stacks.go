package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
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

// senders returns the goroutines that wait for replies on a connection, but for those with some
// ids. Of a connection that the client's own code has dialed, they are those of all clients.
func (l *link) senders(without map[string]bool) (list []trace.Sender) {
	waits := "zk.(*Conn).request("
	if conn := l.process.client.conn(l.connect); conn != nil {
		waits += fmt.Sprintf("%p,", conn)
	}
	for stack := range trace.Stacks(bubble.Stacks()) {
		if id := idOf(stack); strings.Contains(stack, waits) && !without[id] {
			list = append(list, trace.Sender{Goroutine: l.process.client.scriptOf(id),
				Stack: strings.Clone(stack)})
		}
	}
	return list
}

// idOf is the id of the goroutine of a stack, as in "goroutine 7".
func idOf(stack string) string {
	id, _, _ := strings.Cut(stack, " [")
	return id
}

// scriptOf is the name of the client's Goroutine with an id, "" if it is another goroutine.
func (c *Client) scriptOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, script := range c.scripts {
		if id == fmt.Sprintf("goroutine %d", script) {
			return c.Goroutine(number).Name()
		}
	}
	return ""
}

// mostSenders bounds the requests whose senders are found. Each takes a look at all goroutines.
const mostSenders = 2000

// noteSenders notes who may have sent the requests that the client has just written: goroutines
// that wait in the method of the operation, but not for the reply to an earlier request.
func (l *link) noteSenders(requests []*carry.Message) {
	n, waiting := l.net, map[string]bool{}
	if n.looks++; n.looks > mostSenders {
		return
	}
	for _, other := range n.links {
		for _, id := range other.asking {
			waiting[id] = true
		}
	}
	all := l.senders(waiting)
	for _, m := range requests {
		op := l.opOf(true, m)
		method := "zk.(*Conn)." + cmp.Or(methods[op], strings.ToUpper(op[:1])+op[1:])
		list := slices.DeleteFunc(slices.Clone(all), func(s trace.Sender) bool {
			return !strings.Contains(s.Stack, method)
		})
		if n.record.Senders(labelOf(m).note, list); len(list) == 1 {
			l.asking[string(m.Bytes[:4])] = idOf(list[0].Stack)
		}
	}
}

// methods are those of a connection that are not called as their operation.
var methods = map[string]string{
	"getData": "Get", "setData": "Set", "getChildren": "Children", "getChildren2": "Children",
}
