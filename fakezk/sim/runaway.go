package sim

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/trace"
)

// A runaway is code under test that works without end and gets nowhere. It would fill the memory
// before the time limit of a run. So a runaway ends the run, at a count that depends on the run
// alone, and the Result names it (trace.Runaway). There are three kinds: requests that follow one
// another without a pause, lines of a script that follow one another at one instant, and
// goroutines without number.

// burst counts requests of a client that follow one another without a pause: each is sent at the
// instant at which the World has woken the client, by a reply, for instance. The count begins anew
// when a script of the client writes a line. It falls when the client waits for a timer of its own.
type burst struct {
	woken    time.Duration // when the World woke the client last
	requests int           // since the count began
	count    int           // the count
	since    trace.Moment  // when it began
	lastAt   time.Duration // when the last request was sent without a pause
	own, all int64         // lines of the client's scripts, and of all scripts, when it began
}

const (
	// maxBurst is the count at which a client is a runaway, and perLine is what each line of a
	// script adds to it: objects may read all that others have written, and may wait for others
	// without a pause. The right objects of package object reach 800 requests with 4 clients of 4
	// goroutines, and 1,400 with 26 clients and 20 rounds, when a two-phase commit reads 500
	// transactions. A lock that asks again and again sends 2,500 while another client holds it for
	// 8 s; 10,000 take some 30 s.
	maxBurst = 10_000
	perLine  = 1000
	// relief is by how much a pause lowers the count.
	relief = 100
	// maxLinesAtOnce is the number of lines of a client at one instant at which it is a runaway.
	maxLinesAtOnce = 10_000
	// maxGoroutines is the number of goroutines at which a run is ended, or perClient for each
	// client if that is more. The objects of package object reach 950 with 26 clients of 9
	// goroutines.
	maxGoroutines, perClient = 5_000, 100
	// maxBytes is the greatest length of all messages to the server in a run.
	maxBytes = 256 << 20
)

// markWoken notes that the World wakes the client at this instant.
func (c *Client) markWoken() {
	c.sim.agenda.Woke()
	c.burst.woken = c.sim.agenda.Elapsed()
}

// notePause lowers the count if a timer of the client's own has woken it, not the World. It reports
// whether that is so.
func (c *Client) notePause() bool {
	paused := c.sim.agenda.Elapsed() != c.burst.woken
	if paused {
		c.burst.count -= relief
	}
	return paused
}

// countRequest counts a request of the client.
func (s *simulation) countRequest(c *Client) {
	t := &c.burst
	if !c.notePause() {
		t.lastAt = t.woken
	}
	all := s.lines.Load()
	if own := c.lines.Load(); own != t.own || t.count <= 0 {
		*t = burst{
			woken: t.woken, lastAt: t.lastAt, since: s.journal.Moment(), own: own, all: all,
		}
	}
	t.requests++
	t.count++
	if t.count >= maxBurst+perLine*int(all-t.all) {
		s.endFor(trace.Runaway{Client: c.name, Requests: t.requests}, t.since)
	}
}

// isRequest reports whether a frame of a client is a request of its script. A handshake begins with
// 0, and the requests of the client's library have negative numbers.
func isRequest(frame []byte) bool {
	return len(frame) >= 8 && int32(binary.BigEndian.Uint32(frame)) > 0
}

// endFor ends the run because of a runaway. The first one counts.
func (s *simulation) endFor(r trace.Runaway, since trace.Moment) {
	if !s.closing.Load() {
		s.runaway.CompareAndSwap(nil, &runaway{r, since})
	}
}

// runaway is a runaway that was found, and the moment since when it is one.
type runaway struct {
	trace.Runaway
	since trace.Moment
}

// countLine counts a line of a script, written at a moment. If there are too many of one instant,
// or after the end, it ends the run, and blocks the calling goroutine for ever: nothing else would
// end it.
func (c *Client) countLine(at trace.Moment) {
	c.lines.Add(1)
	c.sim.lines.Add(1)
	nth := at.Nth() + 1
	if at == trace.AfterEnd {
		nth = int(c.linesAfterEnd.Add(1))
	}
	if nth < maxLinesAtOnce || bubble.Name() == "" { // a judge asks for its moment, too
		return
	}
	c.sim.endFor(trace.Runaway{Client: c.name, Lines: maxLinesAtOnce}, at)
	c.sim.wakeUp()
	select {}
}

// countGoroutines ends the run if it has too many goroutines. It counts every 100 ms of virtual
// time or 256 steps, as it takes long to count.
func (s *simulation) countGoroutines() {
	steps, now := s.steps.Load(), s.agenda.Now()
	if steps < s.counted.steps+256 && now < s.counted.at+100*time.Millisecond {
		return
	}
	s.counted.steps, s.counted.at = steps, now
	most := max(maxGoroutines, perClient*len(s.world.Clients))
	if numGoroutine() < most {
		return
	}
	if n, stack := s.goroutinesOfRun(bubble.Stacks()); n >= most {
		s.endFor(trace.Runaway{Goroutines: n, Stack: stack}, s.journal.Moment())
	}
}

// leakedGoroutines is the number of goroutines of runs that have ended.
var leakedGoroutines atomic.Int64

// numGoroutine is the number of goroutines of the process, without those of runs that have ended.
// These would make each count take long, in hunts in code that never closes its clients.
func numGoroutine() int { return runtime.NumGoroutine() - int(leakedGoroutines.Load()) }

// goroutinesOfRun counts the goroutines of the run in a text with stacks, and returns the stack of
// one that was begun where most of them were.
func (s *simulation) goroutinesOfRun(stacks string) (number int, stack string) {
	s.mu.Lock()
	name := s.bubble
	s.mu.Unlock()
	begun, most := map[string]int{}, 0
	for g := range trace.Stacks(stacks) {
		header, _, _ := strings.Cut(g, "\n")
		if !strings.Contains(header, name) {
			continue
		}
		number++
		_, by, _ := strings.Cut(g, "\ncreated by ")
		_, by, _ = strings.Cut(by, "\n") // without the number of the goroutine
		if begun[by]++; begun[by] > most {
			most, stack = begun[by], g
		}
	}
	return number, strings.Clone(stack)
}

// abandonRunaways gives the scripts that are busy at the end a second to notice that their contexts
// are done. The connections of a client that sends requests without a pause even then are left as
// they are, without a server: if they were closed, each request would fail at once, and the client
// would take a processor for ever. The second is never shorter: a client that has just ended has
// sent its last request a moment ago, too.
func (s *simulation) abandonRunaways() {
	if s.running == 0 && s.runaway.Load() == nil {
		return
	}
	s.loop(s.agenda.Now()+time.Second, func() bool { return false })
	for id, l := range s.links {
		c := l.client
		if at := c.burst.lastAt; at > 0 && s.agenda.Elapsed() < at+100*time.Millisecond {
			c.abandoned = true
			l.conn.Close()
			delete(s.links, id)
		}
	}
}

// tooMany is the number of goroutines of the process at which it ends itself.
const tooMany = 20 * maxGoroutines

// exitOnGoroutines ends the process if the run has begun most of its goroutines, without letting
// virtual time pass. Nothing else would stop the run before the memory is full.
func (s *simulation) exitOnGoroutines() {
	const sample = 4 << 20
	buf := make([]byte, sample)
	stacks := string(buf[:runtime.Stack(buf, true)])
	if n, stack := s.goroutinesOfRun(stacks); n > strings.Count(stacks, "\n\n")/2 {
		fmt.Fprintf(os.Stderr, "fatal error: the code under test begins goroutines without number "+
			"at one instant; the process has %d. One of them is:\n%s\n",
			runtime.NumGoroutine(), stack)
		os.Exit(2) // not by a panic, which could be recovered, and could print them all
	}
}
