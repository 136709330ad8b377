package scenario

import (
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
)

// Hands runs script for each hand of the client at the same time, as many as the
// Script asks for, and returns when all have ended. Each hand is a Player of its
// own, the first is p itself; to the judge all of them are one client, which makes
// several calls at once. Call it once, at the end of a Play of a workload that is
// Shared.
func (p *Player) Goroutines(s Script, script func(hand *Player)) { p.hands(s.GoroutineCount(), script) }

func (p *Player) hands(number int, script func(hand *Player)) {
	world, ok := p.client.(worldClient)
	if !ok { // a client in a RealWorld, whose scripts have one hand
		script(p)
		return
	}
	for n := 1; n < number; n++ {
		hand := newPlayer(p.ctx, worldClient{world.Hand.Client.Hand(n)}, p.index, p.seed)
		hand.careless, hand.drawn = p.careless, p.drawn
		p.others = append(p.others, hand)
	}
	world.Hands(number, func(h *sim.Hand) {
		hand := p
		if n := h.Number(); n > 0 {
			hand = p.others[n-1]
			// Hands that begin together would ask for the same at the same instant.
			if !hand.Pause(time.Duration(hand.Choose("start", 5000)) * time.Microsecond) {
				return
			}
		}
		script(hand)
	})
}

// all are the client's hands.
func (p *Player) all() []*Player { return append([]*Player{p}, p.others...) }

// A Handle is what the hands of a client share: what open makes, and when that was
// closed, what it makes then.
type Handle[T any] struct {
	open func() T

	mu     sync.Mutex
	opened T
	users  int // hands whose scripts have not ended
}

// Now is the object to be used for the next call.
func (h *Handle[T]) Now() T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened
}

// Shared makes the script of a client whose hands share what open makes: each plays
// what play does. In a rough script one hand more closes what they share.
func Shared[T any](open func(*Player) T, play func(hand *Player, s Script, h *Handle[T])) func(*Player, Script) {
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

// leave says that a hand's script has ended.
func (h *Handle[T]) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
}
