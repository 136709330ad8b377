package scenario

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
)

// goroutines runs script in a number of goroutines of the client and returns when all have ended.
// Each has a Player; that of the first is p.
func (p *Player) goroutines(number int, script func(p *Player)) {
	world, ok := p.client.(worldClient)
	if !ok { // in a realworld.World a script has one goroutine
		script(p)
		return
	}
	for n := 1; n < number; n++ {
		other := newPlayer(p.ctx, worldClient{world.Goroutine.Client.Goroutine(n)}, p.index, p.seed)
		other.careless, other.faults, other.drawn = p.careless, p.faults, p.drawn
		other.session, other.life, other.heard = p.session, p.life, p.heard
		other.own, other.ownEvents = p.own, p.ownEvents
		if p.before != nil && n <= len(p.before.others) {
			other.succeed(p.before.others[n-1])
		}
		p.others = append(p.others, other)
	}
	world.Goroutines(number, func(h *sim.Goroutine) {
		own := p
		if n := h.Number(); n > 0 {
			own = p.others[n-1]
			// Goroutines that begin together would send at the same instant.
			if !own.Pause(time.Duration(own.Choose("start", 5000)) * time.Microsecond) {
				return
			}
		}
		defer own.stopHeeding()
		script(own)
	})
}

// all lists the players of the client's goroutines.
func (p *Player) all() []*Player { return append([]*Player{p}, p.others...) }

// A Handle holds the object that the goroutines of a client share. When a careless script
// has closed the object, the handle opens another.
type Handle[T any] struct {
	open func() T

	mu     sync.Mutex
	opened T
	users  int // goroutines that have not ended
}

// Now returns the object to use for the next call.
func (h *Handle[T]) Now() T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened
}

// end closes the object that is open at the end of a script, in half of the runs. In the other half
// it stays open until the end of the World, so that the other clients meet what Close would have
// cleaned up. Its watches are no orphans then.
func (h *Handle[T]) end(p *Player) {
	c, ok := any(h.opened).(closer)
	if !ok || p.ctx.Err() != nil {
		return
	}
	if p.open = p.OfRun("closed at the end", 2) == 0; !p.open {
		p.close(p.ctx, c)
		return
	}
	go func() {
		<-p.ctx.Done()
		_ = c.Close(p.ctx) // nothing is recorded any more
	}()
}

// Shared returns a Play for clients with one object each: open makes the object, and play uses it,
// in as many goroutines as the script asks for. Each goroutine has a Player; the judge sees one
// client that makes several calls at once. In a careless script one more goroutine closes the
// object now and then, and opens another.
func Shared[T any](open func(*Player) T,
	play func(p *Player, s Script, h *Handle[T])) func(*Player, Script) {
	return func(p *Player, s Script) {
		users := s.goroutines()
		h := &Handle[T]{open: func() T { return open(p) }, users: users}
		defer h.end(p)
		h.opened = h.open()
		if !s.Careless {
			p.goroutines(users, func(p *Player) { play(p, s, h) })
			return
		}
		p.goroutines(users+1, func(p *Player) {
			if p.Goroutine() == users {
				h.closeAtRandom(p, s)
				return
			}
			defer h.leave()
			play(p, s, h)
		})
	}
}

// Apart is [Shared] for goroutines with one object each. All objects of a client use its
// connection.
func Apart[T any](open func(*Player) T,
	play func(p *Player, s Script, h *Handle[T])) func(*Player, Script) {
	alone := Shared(open, play)
	return func(p *Player, s Script) {
		if s.goroutines() == 1 {
			alone(p, s)
			return
		}
		handles := make([]*Handle[T], s.goroutines())
		p.goroutines(len(handles), func(p *Player) {
			p.session = new(atomic.Pointer[func() int64]) // an object may have one of its own
			h := &Handle[T]{open: func() T { return open(p) }, users: 1}
			h.opened = h.open()
			handles[p.Goroutine()] = h
			play(p, s, h)
		})
		for _, h := range handles {
			if h != nil {
				h.end(p)
			}
		}
	}
}

// leave notes that a goroutine has ended.
func (h *Handle[T]) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
}
