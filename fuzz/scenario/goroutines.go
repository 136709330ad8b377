package scenario

import (
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
)

// Goroutines runs script in several goroutines of the client, as many as s asks for, and
// returns when all have ended. Each has a Player; that of the first is p. To the judge
// they are one client that makes several calls at once. Call Goroutines once, at the end
// of the Play of a workload that is Shared.
func (p *Player) Goroutines(s Script, script func(p *Player)) {
	p.hands(s.GoroutineCount(), script)
}

func (p *Player) hands(number int, script func(hand *Player)) {
	world, ok := p.client.(worldClient)
	if !ok { // a client in a RealWorld, whose scripts have one goroutine
		script(p)
		return
	}
	for n := 1; n < number; n++ {
		hand := newPlayer(p.ctx, worldClient{world.Goroutine.Client.Goroutine(n)}, p.index, p.seed)
		hand.careless, hand.drawn = p.careless, p.drawn
		p.others = append(p.others, hand)
	}
	world.Goroutines(number, func(h *sim.Goroutine) {
		hand := p
		if n := h.Number(); n > 0 {
			hand = p.others[n-1]
			// Goroutines that begin together would send at the same instant.
			if !hand.Pause(time.Duration(hand.Choose("start", 5000)) * time.Microsecond) {
				return
			}
		}
		script(hand)
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

// Shared returns a Play for clients whose goroutines share one object: open opens it, and
// each goroutine runs play. In a careless script one more goroutine closes the object now
// and then.
func Shared[T any](open func(*Player) T,
	play func(hand *Player, s Script, h *Handle[T])) func(*Player, Script) {
	return func(p *Player, s Script) {
		h := &Handle[T]{open: func() T { return open(p) }, users: s.GoroutineCount()}
		h.opened = h.open()
		if !s.Careless {
			p.Goroutines(s, func(hand *Player) { play(hand, s, h) })
			return
		}
		p.hands(s.GoroutineCount()+1, func(hand *Player) {
			if hand.client.Number() == s.GoroutineCount() {
				h.closeNowAndThen(hand, s)
				return
			}
			defer h.leave()
			play(hand, s, h)
		})
	}
}

// leave notes that a goroutine has ended.
func (h *Handle[T]) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
}
