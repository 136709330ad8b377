package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Chooser says what comes next in a World with a Schedule of Turns: the index of one of the
// things of a turn. A number below 0 ends the run at once; see [trace.Result.Dropped]. In a turn
// without things, which only tells what was lost or said, the number has no effect.
type Chooser func(trace.Turn) int

// Lateness is how far a thing may fall behind others under a Schedule of Turns. It bounds how often
// a client that pauses and tries again overtakes another.
const Lateness = 100 * time.Millisecond

// Instant is so short that what happens within it counts as happening at the same time. Under a
// Schedule of Turns a fault at such a time waits for its turn as soon as its client begins.
const Instant = time.Microsecond

// turns lets one thing happen at a time, under a Schedule of Turns: a message, the end of a dial or
// of a sleep. Where several can come next, the chooser says which. Meanwhile no virtual time
// passes: it does when nothing is under way. So in whichever order things come that commute, timers
// come at the same time, and find the same.
//
// Each process has a reckoning, the time that it would be if messages were as quick as light: a
// pause of the script moves it, and a message takes it along. It only says what is too late.
type turns struct {
	network *network
	inbox   *inbox
	agenda  *agenda.Agenda
	engine  *engine.Engine
	chooser Chooser // nil: the numbers of the schedule

	hideCounts bool // see World
	follow     func(server int, zxid int64)

	waiting   []*thing       // dials and sleeps
	planned   bool           // a thing is in the agenda
	own       bool           // the event of the agenda under way is a thing
	reckoning time.Duration  // of that thing
	held      time.Duration  // until when messages are held: the last of these in the agenda
	apart     bool           // see trace.Turn
	at        time.Duration  // of the last turn
	chosen    int            // turns with a choice so far
	taken     int            // things so far
	applies   map[[2]int]int // of a server so far, by whether they change something
	dropped   bool           // the chooser has ended the run
	told      bool           // it knows what has become of the last turn

	seen map[any]trace.Thing // in turns, and have not come
	late map[any]trace.Thing // too late for the last turn
}

// thing is something that waits for its turn.
type thing struct {
	trace.Thing
	process *process
	due     time.Duration // in the reckoning of the process
	came    int64         // its place among all things
	head    head          // of a message
	happen  func()
	wakes   []sleeper
	apply   *apply // of a server, which is no process
}

// apply is a transaction that a server is to apply.
type apply struct {
	server int
	zxid   int64
}

// isOver reports whether a thing has nobody to wake any more, or nothing to apply.
func (t *turns) isOver(w *thing) bool {
	if w.apply != nil {
		next, behind := t.engine.Next(w.apply.server)
		return !behind || next > w.apply.zxid
	}
	return len(w.wakes) > 0 && !slices.ContainsFunc(w.wakes, func(z sleeper) bool {
		return !z.gaveUp()
	})
}

func (t *turns) on() bool { return t.network.schedule.Kind == Turns }

// add adds the end of a dial or of a sleep of a process.
func (t *turns) add(kind trace.ThingKind, p *process, after time.Duration, happen func()) *thing {
	p.things++
	t.network.sent++
	w := &thing{
		Thing: trace.Thing{Kind: kind,
			Delivery: trace.Delivery{Client: p.name, Number: p.things}, After: t.taken},
		process: p, due: t.reckoningOf(p) + after, came: t.network.sent, happen: happen,
	}
	t.waiting = append(t.waiting, w)
	return w
}

// addApply adds that a server applies a transaction.
func (t *turns) addApply(server int, zxid int64) {
	t.network.sent++
	unapplied := t.engine.Unapplied(server)
	d := trace.Delivery{Client: serverName(server)}
	if n := len(unapplied); n == 0 || !changesSomething(unapplied[n-1]) {
		d.Conn = 1 // these are all alike
	}
	t.applies[[2]int{server, d.Conn}]++
	d.Number = t.applies[[2]int{server, d.Conn}]
	t.waiting = append(t.waiting, &thing{
		Thing: trace.Thing{Kind: trace.Applies, After: t.taken, Delivery: d},
		due:   max(t.agenda.Now(), t.reckoning), came: t.network.sent,
		happen: func() { t.follow(server, zxid) }, apply: &apply{server, zxid},
	})
}

// comesNext reports whether a server has applied all that is before a transaction.
func (t *turns) comesNext(a *apply) bool {
	next, _ := t.engine.Next(a.server)
	return next == a.zxid
}

// sleep adds the end of a sleep, or of the time of a context. A long sleep takes its time.
func (t *turns) sleep(group []sleeper, wake func()) {
	p, at := group[0].process, group[0].at
	if after := at - t.agenda.Now(); after <= Lateness {
		t.add(trace.Wakes, p, after, wake).wakes = group
		return
	}
	t.agenda.Schedule(at, func() { t.add(trace.Wakes, p, 0, wake) })
}

// addFault adds a fault that is bound to a time and strikes a client.
func (t *turns) addFault(f *carry.Armed, p *process, strike func()) {
	w := t.add(trace.Strikes, p, 0, strike)
	w.Alone = f.Kind != fault.Expire
}

func (t *turns) reckoningOf(p *process) time.Duration { return max(t.agenda.Now(), p.reckoning) }

// sent notes when a message that is sent now is due, and what has brought it about.
func (t *turns) sent(p *process, up bool, l *label) {
	if l.after = t.taken; up {
		l.due = t.reckoningOf(p)
	} else {
		l.due = max(t.agenda.Now(), t.reckoning)
	}
}

// plan puts what comes next into the agenda, and reports whether there is something. until is when
// something else happens.
func (t *turns) plan(until time.Duration) bool {
	if !t.on() || t.planned || until <= t.agenda.Now()+Instant {
		return false
	}
	next, held := t.next()
	switch {
	case next != nil:
		t.planned = true
		t.agenda.Schedule(t.agenda.Now(), func() { t.take(next) })
	case held > 0 && held != t.held && held < until:
		t.held = held
		t.agenda.Schedule(held, func() {})
	default:
		return false
	}
	return true
}

// idle reports whether nothing is under way, and nothing else happens at this instant. A run is at
// its end only then: otherwise the end would come at another point if things that commute came in
// another order.
func (t *turns) idle() bool {
	if !t.on() {
		return true
	}
	open, _, _ := t.open()
	return len(open) == 0 && !t.planned && t.agenda.Next() > t.agenda.Now()+Instant
}

// over reports whether the chooser has ended the run, which is still to be torn down.
func (t *turns) over() bool { return t.dropped && !t.network.faults.Healed() }

// take lets a thing happen.
func (t *turns) take(next *thing) {
	if next.Kind == trace.Strikes { // it keeps nobody busy
		next.due = t.reckoningOf(next.process)
	}
	t.planned, t.own, t.reckoning = false, true, next.due
	t.taken++
	if p := next.process; p != nil {
		p.reckoning = max(p.reckoning, next.due)
	}
	switch l := next.head.link; {
	case l == nil:
		t.waiting = slices.DeleteFunc(t.waiting, func(w *thing) bool { return w == next })
		next.happen()
	case next.head.up:
		l.deliverUp()
	default:
		l.deliverDown()
	}
}

// goOn notes that the event of the agenda under way belongs to the last thing.
func (t *turns) goOn() { t.own = true }

// applied is called after each event of the World.
func (t *turns) applied() {
	t.apart = t.apart || !t.own
	t.own, t.reckoning = false, 0
}

// next chooses the thing that comes next, nil if there is none, or if the chooser ends the run.
// held is until when a message is held, 0 if none is.
func (t *turns) next() (next *thing, held time.Duration) {
	open, late, held := t.open()
	turn := trace.Turn{Time: t.agenda.Now(), Lost: t.lost(open, late), Said: t.inbox.takeSaid()}
	healed := t.network.faults.Healed()
	switch {
	case len(open) > 0 && !healed:
		return t.nextOf(open, turn), held
	case len(turn.Lost)+len(turn.Said) > 0 && !t.dropped && !t.told:
		t.choose(turn)
	}
	if t.told = healed; healed && len(open) > 0 {
		next = open[0]
	}
	return next, held
}

// nextOf chooses one of the things that can come, nil if the chooser ends the run.
func (t *turns) nextOf(open []*thing, turn trace.Turn) *thing {
	t.noteEphemerals()
	now := t.agenda.Now()
	turn.Apart = t.apart || now-t.at > Instant
	if i := slices.IndexFunc(open, t.comesAtOnce); i >= 0 {
		open, turn.AtOnce = open[i:i+1], true
	}
	for _, w := range open {
		thing := t.describe(w)
		turn.Things, t.seen[w.key()] = append(turn.Things, thing), thing
	}
	t.apart, t.at = false, now
	n := t.choose(turn)
	if n < 0 {
		t.dropped = true
		return nil
	}
	delete(t.seen, open[n].key())
	return open[n]
}

// lost are the things of earlier turns that have not come and are not open any more, and those that
// were too late for the last turn, and are gone.
func (t *turns) lost(open, late []*thing) (list []trace.Thing) {
	left := make(map[any]bool, len(open))
	for _, w := range open {
		left[w.key()] = true
	}
	now := make(map[any]trace.Thing, len(late))
	for _, w := range late {
		now[w.key()] = t.describe(w)
	}
	for key, thing := range t.late {
		if _, still := now[key]; !still && !left[key] {
			list = append(list, thing)
		}
	}
	t.late = now
	for key, thing := range t.seen {
		if !left[key] {
			list = append(list, thing)
			delete(t.seen, key)
		}
	}
	slices.SortFunc(list, func(a, b trace.Thing) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Number, b.Number))
	})
	return list
}

// key tells a thing from all others.
func (w *thing) key() any {
	if w.head.link != nil {
		return w.head.message
	}
	return w
}

// choose asks the chooser, or the schedule.
func (t *turns) choose(turn trace.Turn) int {
	if t.chooser != nil {
		return min(t.chooser(turn), len(turn.Things)-1)
	}
	numbers := t.network.schedule.Numbers
	if len(turn.Things) <= 1 || t.chosen >= len(numbers) {
		return 0
	}
	t.chosen++
	return min(numbers[t.chosen-1], len(turn.Things)-1)
}

// open returns a list of the things that can come next, by the time when they are due. Those that
// would leave another one too far behind are late. held is until when a message is held, 0 if none
// is.
func (t *turns) open() (list, late []*thing, held time.Duration) {
	t.waiting = slices.DeleteFunc(t.waiting, t.isOver)
	for _, w := range t.waiting {
		if w.apply == nil || t.comesNext(w.apply) {
			list = append(list, w)
		}
	}
	for h := range t.network.heads() {
		if h.ready > t.agenda.Now() {
			if held == 0 || h.ready < held {
				held = h.ready
			}
			continue
		}
		list = append(list,
			&thing{process: h.link.process, due: h.label().due, came: h.label().sent, head: h})
	}
	slices.SortFunc(list, func(a, b *thing) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.came, b.came))
	})
	first := slices.IndexFunc(list, func(w *thing) bool { return w.Kind != trace.Strikes })
	if first < 0 {
		return list, nil, held
	}
	limit := list[first].due + Lateness
	list = slices.DeleteFunc(list, func(w *thing) bool {
		isLate := w.Kind != trace.Strikes && w.due > limit
		if isLate {
			late = append(late, w)
		}
		return isLate
	})
	return list, late, held
}

// comesAtOnce reports whether a thing is no matter of choice: nobody notices it.
func (t *turns) comesAtOnce(w *thing) bool { return w.apply != nil && t.isUnnoticed(w.apply) }

// describe returns the description of a thing, for the chooser.
func (t *turns) describe(w *thing) trace.Thing {
	d := w.Thing
	if w.apply != nil {
		t.describeApply(&d, w.apply)
	}
	if d.Kind == trace.Strikes && !d.Alone {
		t.describeExpiry(&d, w.process)
		t.describeEnd(&d, w.process)
	}
	if l := w.head.link; l != nil {
		d.Kind, d.Delivery = trace.AtClient, w.head.describe()
		lane := &l.conn.Down
		if w.head.up {
			t.describeRequest(&d, w.head)
			lane = &l.conn.Up
		}
		d.After = w.head.label().after
		t.describeFaults(&d, w.process, l.conn.Acting(lane))
		if w.head.up && w.head.message.End != nil {
			t.describeEnd(&d, w.process)
		}
	}
	return d
}
