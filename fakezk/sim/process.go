package sim

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
)

// process is the process of a client. Its script uses the Client; the process is for the World's
// goroutine.
type process struct {
	client  *Client
	actor   Actor
	name    string
	index   int          // among the World's clients
	peer    carry.Client // as faults know it
	counted *guard.Client
	agenda  *agenda.Agenda

	releaseNet func() // ends dialDirect; set by run, before the script

	// Of turns.
	things     int             // dials and sleeps so far
	reckoning  time.Duration   // see turns
	ephemerals map[string]bool // that its sessions have ever had; see noteEphemerals

	// Of dials.
	dials       int         // connections begun
	failedDials map[int]int // of each Connect, since its last connection

	// Of the server.
	sessions map[int64]bool // every session it ever had

	// Of processes.
	done      bool // the script has ended, or the process has
	ended     bool // the script has ended
	abandoned bool // its connections are not closed at the end
}

func newProcess(b *inbox, g *guard.Guard, actor Actor, name string, index int) *process {
	counted := g.Client(name, actor.Harness)
	p := &process{
		actor: actor, name: name, index: index, peer: carry.Client{ID: int64(index) + 1,
			Name: name},
		counted: counted, agenda: b.agenda, failedDials: map[int]int{}, sessions: map[int64]bool{},
		ephemerals: map[string]bool{}, releaseNet: func() {},
	}
	p.client = &Client{inbox: b, process: p, name: name, index: index, lines: counted}
	return p
}

// run runs the script to its end, in a goroutine of its own.
func (p *process) run() {
	c := p.client
	defer c.inbox.add(func(m *mail) { m.ended = append(m.ended, p) })
	if c.inbox.closing.Load() || p.isDead() {
		return
	}
	c.Goroutine(0).play(func() {
		p.releaseNet = dialhook.Own(c.ownNet())
		p.actor.Run(c.inbox.ctx, c)
	})
}

func (p *process) isDead() bool { return p.client.dead.Load() }

// woken notes that the World wakes a goroutine of the process at this instant.
func (p *process) woken() {
	p.agenda.Woke()
	p.counted.Woken(p.agenda.Elapsed())
}
