package guard

import (
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Runaway is code under test that works without end and gets nowhere. It would fill the memory
// before the time limit of a run. So a runaway ends the run, at a count that depends on the run
// alone, and the Result names it. There are three kinds: requests that follow one another without a
// pause, lines of a script that follow one another at one instant, and goroutines without number.
type Runaway struct {
	trace.Runaway
	// Since is the moment at which the code began to be a runaway.
	Since trace.Moment
}

const (
	// MaxBurst is the count at which a client is a runaway, and perLine is what each line of a
	// script adds to it: objects may read all that others have written, and may wait for others
	// without a pause. The right objects of package object reach 800 requests with 4 clients of 4
	// goroutines, and 1,400 with 26 clients and 20 rounds, when a two-phase commit reads 500
	// transactions. A lock that asks again and again sends 2,500 while another client holds it for
	// 8 s; 10,000 take some 30 s.
	MaxBurst = 10_000
	perLine  = 1000
	// relief is by how much a pause lowers the count.
	relief = 100
	// maxLinesAtOnce is the number of lines of a client at one instant at which it is a runaway.
	maxLinesAtOnce = 10_000
	// maxGoroutines is the number of goroutines at which a run is ended, or perClient for each
	// client if that is more. The objects of package object reach 950 with 26 clients of 9
	// goroutines.
	maxGoroutines, perClient = 5_000, 100
)

// A Client counts the requests of a client that follow one another without a pause: each is sent at
// the instant at which the World has woken the client, by a reply, for instance. The count begins
// anew when a script of the client writes a line, or gets on. It falls when the client waits for a
// timer of its own. Only Line and GetsOn may be called by any goroutine.
type Client struct {
	guard                *Guard
	harness              bool // it is no code under test: nothing that it does counts
	name                 string
	lines, linesAfterEnd atomic.Int64 // of its scripts

	woken  time.Duration // when the World woke the client last
	lastAt time.Duration // when the last request was sent without a pause
	burst  burst
}

type burst struct {
	requests int          // since the count began
	count    int          // the count
	since    trace.Moment // when it began
	own, all int64        // lines of the client's scripts, and of all scripts, when it began
}

// Client begins to count for a client. One of the harness is never a runaway.
func (g *Guard) Client(name string, harness bool) *Client {
	return &Client{guard: g, name: name, harness: harness}
}

// Woken notes that the World wakes the client at this instant.
func (c *Client) Woken(now time.Duration) { c.woken = now }

// Acts notes that a goroutine of the client acts at this instant. It lowers the count, and reports
// so, if a timer of the client's own has woken it, not the World.
func (c *Client) Acts(now time.Duration) (paused bool) {
	if paused = now != c.woken; paused {
		c.burst.count -= relief
	}
	return paused
}

// Sent counts a message of the client to the server.
func (c *Client) Sent(message []byte) {
	if !c.harness {
		c.guard.bytes += int64(len(message))
	}
}

// Request counts a request of the client.
func (c *Client) Request(now time.Duration) {
	if !c.Acts(now) {
		c.lastAt = c.woken
	}
	if c.harness {
		return
	}
	b, all := &c.burst, c.guard.lines.Load()
	if own := c.lines.Load(); own != b.own || b.count <= 0 {
		*b = burst{since: c.guard.moment(), own: own, all: all}
	}
	b.requests++
	b.count++
	if b.count >= MaxBurst+perLine*int(all-b.all) {
		c.guard.endFor(trace.Runaway{Client: c.name, Requests: b.requests}, b.since)
	}
}

// Rushes reports whether the client has sent a request without a pause a moment ago.
func (c *Client) Rushes(now time.Duration) bool {
	return c.lastAt > 0 && now < c.lastAt+100*time.Millisecond
}

// GetsOn notes that a script of the client has got on, as a line of it would.
func (c *Client) GetsOn() {
	c.lines.Add(1)
	c.guard.lines.Add(1)
}

// Line counts a line of a script, written at a moment. It reports whether there are too many of one
// instant, or after the end: then the run ends, and the calling goroutine has to be blocked for
// ever, since nothing else would end it.
func (c *Client) Line(at trace.Moment) (runaway bool) {
	c.GetsOn()
	nth := at.Nth() + 1
	if at == trace.AfterEnd {
		nth = int(c.linesAfterEnd.Add(1))
	}
	if c.harness || nth < maxLinesAtOnce || bubble.Name() == "" { // a judge asks for its moment, too
		return false
	}
	c.guard.endFor(trace.Runaway{Client: c.name, Lines: maxLinesAtOnce}, at)
	return true
}

// countGoroutines ends the run if the code under test has too many goroutines. It counts every
// 100 ms of virtual time or 256 steps, as it takes long to count.
func (g *Guard) countGoroutines(now time.Duration) {
	steps := g.steps.Load()
	if steps < g.counted.steps+256 && now < g.counted.at+100*time.Millisecond {
		return
	}
	g.counted.steps, g.counted.at = steps, now
	most := max(maxGoroutines, perClient*g.clients)
	if numGoroutine() < most {
		return
	}
	if n, stack := g.goroutines(bubble.Stacks()); n >= most {
		g.endFor(trace.Runaway{Goroutines: n, Stack: stack}, g.moment())
	}
}

// leaked is the number of goroutines of runs that have ended.
var leaked atomic.Int64

// Leak notes that the goroutines of some stacks are left of a run that has ended. Leaked returns
// the number of all such goroutines.
func Leak(stacks string) { leaked.Add(int64(strings.Count(stacks, "\n\n")) + 1) }
func Leaked() int64      { return leaked.Load() }

// numGoroutine is the number of goroutines of the process, without those of runs that have ended.
// These would make each count take long, in hunts in code that never closes its clients.
func numGoroutine() int { return runtime.NumGoroutine() - int(Leaked()) }

// ofHarness matches the line of a stack that says that the harness has begun the goroutine. A
// connection of go-zookeeper belongs to the code that has opened it.
var ofHarness = regexp.MustCompile(`^github\.com/zksim/zksim/fakezk/(sim|internal/\w+)\.`)

// goroutines counts the goroutines of the code under test in a text with stacks. It looks for the
// place at which most of them were begun, and returns the stack of one of these.
func (g *Guard) goroutines(stacks string) (number int, stack string) {
	name, begun, most := g.bubbleName(), map[string]int{}, 0
	for s := range trace.Stacks(stacks) {
		header, _, _ := strings.Cut(s, "\n")
		if !strings.Contains(header, name) {
			continue
		}
		_, by, _ := strings.Cut(s, "\ncreated by ")
		if ofHarness.MatchString(by) {
			continue
		}
		number++
		_, by, _ = strings.Cut(by, "\n") // without the number of the goroutine
		if begun[by]++; begun[by] > most {
			most, stack = begun[by], s
		}
	}
	return number, strings.Clone(stack)
}
