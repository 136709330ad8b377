package conform

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// stepsPerScript is how long a random script is.
const stepsPerScript = 60

// random plays random scripts until as many steps as asked for are compared or
// one differs; that one is then made as short as can be.
func (c *comparison) random(ctx context.Context, row *FamilyReport) error {
	reaps, err := c.pair.lacks(ctx, []string{"reaping"})
	if err != nil {
		return err
	}
	for n := 0; row.Operations < c.opts.Ops && row.Differences == 0; n++ {
		g := newGenerator(c.opts.Seed, n, c.pair.fresh, reaps != "")
		s := g.script(fmt.Sprintf("seed %d, number %d", c.opts.Seed, n), min(stepsPerScript, c.opts.Ops-row.Operations))
		what, err := c.pair.play(ctx, s)
		if err != nil {
			return err
		}
		row.add(what)
		if what.diff != nil {
			if err := c.again(ctx, row, s, *what.diff); err != nil {
				return err
			}
		}
		c.progress(row.Name)
	}
	return nil
}

// repetitions is how often a random script that differs is played again.
const repetitions = 5

// again repeats a script that has differed. One that always does is made shorter;
// one that does now and then is reported as it is, with how often.
func (c *comparison) again(ctx context.Context, row *FamilyReport, s script, first Difference) error {
	last, repeated := first, 0
	for range repetitions {
		what, err := c.pair.play(ctx, s)
		if err != nil {
			return err
		}
		if what.diff != nil {
			last = *what.diff
			repeated++
		}
	}
	if repeated == repetitions {
		smaller, err := c.pair.shrink(ctx, s, &last)
		if err != nil {
			return err
		}
		last = *smaller
	}
	last.Repeated, last.Repetitions = repeated, repetitions
	if repeated == 0 {
		c.report.Unrepeated = append(c.report.Unrepeated, last)
		return nil
	}
	c.found(row, last)
	return nil
}

// A generator writes random scripts, in the notation of this package. The same
// seed and number give the same script.
type generator struct {
	*rand.Rand
	fresh      bool // "/" may be read and written
	containers bool // nothing but a delete takes containers and TTL nodes away
	clients    []*client
	tree       *tree
	steps      int // written so far
}

func newGenerator(seed uint64, number int, fresh, containers bool) *generator {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d", seed, number)
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, h.Sum64())), fresh: fresh, containers: containers, tree: newTree(),
	}
	for _, name := range []string{"a", "b", "c", "d"}[:2+g.IntN(3)] {
		g.clients = append(g.clients, &client{name: name})
	}
	return g
}

// script writes n steps.
func (g *generator) script(name string, n int) script {
	s := script{family: randomFamily, name: name}
	for g.steps = 0; g.steps < n; g.steps++ {
		c := pick(g, g.clients...)
		s.steps = append(s.steps, mustParse(c.name+" "+g.step(c)))
	}
	return s
}

// step writes one step of a client.
func (g *generator) step(c *client) string {
	n := g.IntN(1000)
	switch {
	case c.lost:
		return g.comeBack(c)
	case n < 4:
		return g.begin(c)
	case n < 60 && c.there:
		return g.leave(c)
	}
	c.there = true
	switch {
	case n < 85:
		return g.prove(c)
	case n < 105:
		return g.broken(c)
	case n < 109: // not in a burst, where they overtake others
		return pick(g, "sasl", "auth ip x")
	case n < 185:
		return g.burst(c)
	}
	return g.request(c) + g.xid()
}

// xid says now and then with which xid a request goes out, instead of the next
// one: the one of events is among them, and those that clients use for auth and
// setWatches.
func (g *generator) xid() string {
	if g.IntN(25) > 0 {
		return ""
	}
	return fmt.Sprintf(" xid=%d", pick(g, 0, -1, -4, -8, -7, math.MaxInt32, math.MinInt32, g.IntN(1<<31)))
}

// burst writes several requests that go out together. Two things stand at the
// end or not at all: a setACL, as a real server may judge the requests behind it by
// the ACL before, and an auth, which may overtake what is before it. Before an auth
// are reads only: they are judged by who the client was when they came, but events
// by who it is when they go out.
func (g *generator) burst(c *client) string {
	last, n := g.IntN(12), 1+g.IntN(5)
	if last == 0 {
		return "burst { " + g.list(n, g.plainRead) + " ; " + g.prove(c) + " }"
	}
	requests := g.list(n, func() string { return g.request(c, "setACL") })
	if last == 1 {
		requests += " ; " + g.sensible(func() (string, bool) { return g.setACL(c) })
	}
	return "burst { " + requests + " }"
}

func (g *generator) plainRead() string {
	text, _ := g.about(pick(g, "exists", "getData", "getChildren", "getChildren2", "getACL", "sync", "getAllChildrenNumber"))
	return text
}

func (g *generator) list(n int, write func() string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = write()
	}
	return strings.Join(parts, " ; ")
}

// broken writes a request whose body is cut short or anything. An addWatch must
// not name a null path, see watchable, and a createSession no short timeout. A
// broken sasl, 102, ends the connection.
func (g *generator) broken(c *client) string {
	op := pick(g, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 101, 102, 103, 104, 105, 106, 107, -10)
	body := pick(g, "", "00", "00000001", "000000017a00", "ffffffff", "ffffffff00000000", "7fffffff", "fffffffe00")
	if g.fresh && g.IntN(3) == 0 { // these name the root or a child of it
		body = pick(g, "000000012f", "00000000000000000000000000000000", "000000022f7a")
	}
	switch op {
	case 101, 105:
		if g.IntN(2) == 0 {
			body = "0000000000000000" + strings.Repeat(pick(g, "00000000", "ffffffff", "000000010000000472656c78"), g.IntN(5)) +
				pick(g, "", "00", "00000001", "000000010000000472656c")
		}
	case 106:
		body = pick(g, "", "00", "00000001", "000000027a", "0000000472656c78", "0000000472656c780000", "7fffffff", "fffffffe00")
	case 102:
		c.lost = true
	case -10:
		body = pick(g, "", "00", "0000ea", "0000ea60", "0000ea60ffff")
	}
	return strings.TrimSpace(fmt.Sprintf("op %d %s", op, body))
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }
