package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// A toy is a world of a few registers, so small that all its runs can be played. Each client plays
// steps, one request and one reply each. The end of the session of the first client deletes its
// register e, loses its request, and refuses those that follow.
type toy struct {
	scripts [][]string
	strikes bool
	first   bool // the end of the session comes first in each turn

	registers map[string]string
	clients   []toyClient
	struck    int // the event that ended the session, from 1
	lost      []trace.Thing
	said      []trace.Said
	ends      map[string]int // of holds, by client
	saw       []string       // by each client
	events    int
}

type toyClient struct {
	step     int
	answered bool   // the reply is under way
	value    string // of the reply
	after    int    // the event that brought about what is under way
	alive    bool
	holds    int
}

var toySteps = []string{"get x", "get y", "get e", "put x", "put y", "put e", "copy x", "lock x",
	"unlock x", "unlock y"}

func (t *toy) begin() {
	t.registers, t.ends, t.events, t.struck = map[string]string{}, map[string]int{}, 0, 0
	t.clients, t.saw = make([]toyClient, len(t.scripts)), make([]string, len(t.scripts))
	t.lost, t.said = nil, nil
	for i := range t.clients {
		t.clients[i].alive = true
		t.call(i)
	}
}

func (t *toy) name(client int) string { return string(rune('a' + client)) }

// op is the step of a client, and its register.
func (t *toy) op(client int) (op, register string) {
	op, register, _ = strings.Cut(t.scripts[client][t.clients[client].step], " ")
	return op, register
}

func (t *toy) say(client int, text string) {
	t.said = append(t.said, trace.Said{Client: t.name(client), Text: text})
}

func (t *toy) call(client int) {
	if t.clients[client].step < len(t.scripts[client]) {
		op, _ := t.op(client)
		t.say(client, "calls "+op)
		switch c := &t.clients[client]; {
		case op == "lock":
			c.holds++
		case op == "unlock" && c.holds > 0:
			c.holds--
			t.ends[t.name(client)]++
		}
	}
}

func (t *toy) things() (things []trace.Thing) {
	for i, c := range t.clients {
		if c.step == len(t.scripts[i]) {
			continue
		}
		thing := trace.Thing{Kind: trace.AtClient, After: c.after,
			Delivery: trace.Delivery{Client: t.name(i), Conn: 1, Number: c.step + 1}}
		if !c.answered {
			op, register := t.op(i)
			thing.Kind, thing.Reads = trace.AtServer, []string{register}
			switch {
			case !c.alive:
				thing.Reads = nil
			case op == "put":
				thing.Writes = []string{register}
			case op == "copy" && t.registers[register] != "":
				thing.Writes = []string{"y"}
			}
		}
		things = append(things, thing)
	}
	if strike := (trace.Thing{Kind: trace.Strikes, Own: true, Delivery: trace.Delivery{
		Client: "a", Number: 1, Writes: []string{"e"}}}); t.strikes && t.struck == 0 {
		if t.first {
			return slices.Insert(things, 0, strike)
		}
		things = append(things, strike)
	}
	return things
}

// happen lets a thing happen.
func (t *toy) happen(thing trace.Thing) {
	i := int(thing.Client[0] - 'a')
	c := &t.clients[i]
	t.events++
	switch thing.Kind {
	case trace.Strikes:
		t.struck, c.alive = t.events, false
		delete(t.registers, "e")
		if c.step < len(t.scripts[i]) && !c.answered {
			thing := slices.IndexFunc(t.things(), func(u trace.Thing) bool {
				return u.Client == "a" && u.Kind == trace.AtServer
			})
			t.lost = append(t.lost, t.things()[thing])
			c.answered, c.value, c.after = true, "lost", t.events
		}
	case trace.AtServer:
		op, register := t.op(i)
		c.value, c.answered, c.after = t.registers[register], true, t.events
		switch {
		case !c.alive:
			c.value = "refused"
		case op == "put":
			t.registers[register] = fmt.Sprint(t.name(i), c.step)
		case op == "copy" && c.value != "":
			t.registers["y"] = c.value
		}
	default:
		op, _ := t.op(i)
		t.saw[i] += fmt.Sprintf(" %s=%s", op, c.value)
		if op == "lock" {
			for j := range t.clients {
				if j != i {
					t.saw[i] += fmt.Sprint(" behind ", t.ends[t.name(j)])
				}
			}
		}
		t.say(i, op+" returns")
		c.answered, c.after = false, t.events
		c.step++
		t.call(i)
	}
}

// play plays a run, in which a chooser says what comes next. It returns what the clients saw, ""
// if the chooser has ended the run.
func (t *toy) play(choose func(turn trace.Turn) int) string {
	t.begin()
	for {
		turn := trace.Turn{Things: t.things(), Lost: t.lost, Said: t.said}
		t.lost, t.said = nil, nil
		n := choose(turn)
		if len(turn.Things) == 0 {
			return fmt.Sprint(strings.Join(t.saw, ";"), t.registers)
		}
		if n < 0 {
			return ""
		}
		t.happen(turn.Things[n])
	}
}

// everyClass is what the runs of a proof show.
func (t *toy) everyClass(walkers int, mistake func(w *walk)) (
	seen map[string]bool, runs int,
) {
	w := &walk{commute: trace.Thing.Commutes}
	w.walkers, seen = []*walker{{walk: w}}, map[string]bool{}
	for mistake(w); len(w.walkers) > 0; {
		w.share(walkers)
		round := slices.Clone(w.walkers)
		for _, by := range round {
			by.begin()
			if shows := t.play(by.choose); shows != "" {
				seen[shows] = true
			}
			by.end()
			runs++
		}
		for _, by := range round {
			w.take(by)
		}
	}
	return seen, runs
}

// TestWalksShowAllThatEveryRunShows of random toys. A walk for which nothing is ever lost shows
// less.
func TestWalksShowAllThatEveryRunShows(t *testing.T) {
	t.Parallel()
	compared, noticed, most := 0, 0, testrun.Pick(2000, 20_000)
	for seed := range uint64(testrun.Pick(100, 2000)) {
		draw := rand.New(rand.NewPCG(seed, 0))
		toy := toy{strikes: draw.IntN(3) > 0, first: draw.IntN(2) == 0}
		for range 2 + draw.IntN(2) {
			var script []string
			for range 1 + draw.IntN(3) {
				script = append(script, toySteps[draw.IntN(len(toySteps))])
			}
			toy.scripts = append(toy.scripts, script)
		}
		want, all := map[string]bool{}, 0
		var choices testrun.Choices
		for more := true; more && all <= most; more = choices.Next() {
			all++
			want[toy.play(func(turn trace.Turn) int {
				return choices.Choose(max(1, len(turn.Things)))
			})] = true
		}
		if all > most {
			continue
		}
		got, runs := toy.everyClass(1+draw.IntN(3), func(*walk) {})
		if not := missing(want, got); len(not) > 0 {
			t.Fatalf("seed %d, %q, %v: %d runs of %d show %d of %d; missing: %s", seed, toy.scripts,
				toy.strikes, runs, all, len(got), len(want), not[0])
		}
		wrong, _ := toy.everyClass(1+draw.IntN(3), func(w *walk) { w.noLoss = true })
		if compared++; len(missing(got, wrong)) > 0 {
			noticed++
		}
	}
	t.Logf("%d compared, %d notice the mistake", compared, noticed)
	check.Equal(t, compared >= 40 && noticed >= 10, true, "%d compared, %d notice", compared, noticed)
}
