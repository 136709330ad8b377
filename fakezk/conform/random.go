package conform

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// stepsPerScript is the length of a random script.
const stepsPerScript = 60

// random plays random scripts until Options.Ops steps are compared, or until a script differs and
// differs again in a repetition.
func (c *comparison) random(ctx context.Context, row *FamilyReport) error {
	reaps, err := c.pair.lacks(ctx, []string{"reaping"})
	if err != nil {
		return err
	}
	for n := 0; row.Operations < c.opts.Ops && row.Differences == 0; n++ {
		g := newGenerator(c.opts.Seed, n, c.pair.fresh, reaps != "")
		s := g.script(fmt.Sprintf("seed %d, number %d", c.opts.Seed, n),
			min(stepsPerScript, c.opts.Ops-row.Operations))
		result, err := c.pair.play(ctx, s)
		if err != nil {
			return err
		}
		row.add(result)
		if result.diff != nil {
			if err := c.repeat(ctx, row, s, *result.diff); err != nil {
				return err
			}
		}
		c.progress(row.Name)
	}
	return nil
}

// repetitions is the number of times that a random script with a difference is repeated.
const repetitions = 5

// repeat repeats a script with a difference and adds it to the report. If it always
// differs, it is shortened first.
func (c *comparison) repeat(
	ctx context.Context, row *FamilyReport, s script, first Difference,
) error {
	last, repeated := first, 0
	for range repetitions {
		result, err := c.pair.play(ctx, s)
		if err != nil {
			return err
		}
		if result.diff != nil {
			last = *result.diff
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
	c.addDifference(row, last)
	return nil
}

// A generator writes random scripts in the notation of this package. The script depends
// on the seed and its number only.
type generator struct {
	*rand.Rand
	fresh      bool // "/" may be read and written
	containers bool // the servers do not delete containers and TTL nodes
	clients    []*client
	tree       *tree
	steps      int  // number written so far
	bursting   bool // the request is one of a burst
}

func newGenerator(seed uint64, number int, fresh, containers bool) *generator {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d", seed, number)
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, h.Sum64())), fresh: fresh, containers: containers,
		tree: newTree(),
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
		return g.reconnect(c)
	case n < 4:
		return g.begin(c)
	case n < 60 && c.there:
		return g.leave(c)
	}
	c.there = true
	switch {
	case n < 85:
		return g.authenticate(c)
	case n < 105:
		return g.broken(c)
	case n < 109: // not in a burst, in which they may overtake other requests
		return pick(g, "sasl", "auth ip x")
	case n < 185:
		return g.burst(c)
	}
	return g.request(c) + g.xid()
}

// xid sometimes writes an xid in place of the next one. Among them are the xid of events
// and those that client libraries use for auth and setWatches.
func (g *generator) xid() string {
	if g.IntN(25) > 0 {
		return ""
	}
	return fmt.Sprintf(" xid=%d",
		pick(g, 0, -1, -4, -8, -7, math.MaxInt32, math.MinInt32, g.IntN(1<<31)))
}

// burst writes several requests to be sent in one write. It may end with a setACL: a real
// server may check the requests behind one by the old ACL. Or it may end with an auth,
// which may overtake the requests before it. Those are then reads only: the server checks
// a read with the identities at its arrival, but an event with those at its delivery.
//
// No create of a burst has flags or a TTL that do not fit it. In a multi, these are an error after
// which a real server takes back its pending changes late: the requests behind such a multi see a
// node that it deletes, or do not, as the server's threads run.
func (g *generator) burst(c *client) string {
	last, n := g.IntN(12), 1+g.IntN(5)
	if last == 0 {
		return "burst { " + g.list(n, g.plainRead) + " ; " + g.authenticate(c) + " }"
	}
	g.bursting = true
	requests := g.list(n, func() string { return g.request(c, "setACL") })
	g.bursting = false
	if last == 1 {
		requests += " ; " + g.mostlyGranted(func() (string, bool) { return g.setACL(c) })
	}
	return "burst { " + requests + " }"
}

func (g *generator) plainRead() string {
	text, _ := g.unwatchedRead(pick(g, "exists", "getData", "getChildren", "getChildren2", "getACL",
		"sync", "getAllChildrenNumber"))
	return text
}

func (g *generator) list(n int, write func() string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = write()
	}
	return strings.Join(parts, " ; ")
}

// broken writes a request with a body that is truncated or does not fit the operation. It writes no
// addWatch with a null path, see watchable, and no createSession with a short timeout. A broken
// sasl, 102, ends the connection.
func (g *generator) broken(c *client) string {
	op := pick(g, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 101, 102,
		103, 104, 105, 106, 107, -10)
	body := pick(g, "", "00", "00000001", "000000017a00", "ffffffff", "ffffffff00000000",
		"7fffffff", "fffffffe00")
	if g.fresh && g.IntN(3) == 0 { // these name the root or a child of it
		body = pick(g, "000000012f", "00000000000000000000000000000000", "000000022f7a")
	}
	switch op {
	case 101, 105:
		if g.IntN(2) == 0 {
			body = "0000000000000000" + strings.Repeat(pick(g, "00000000", "ffffffff",
				"000000010000000472656c78"), g.IntN(5)) +
				pick(g, "", "00", "00000001", "000000010000000472656c")
		}
	case 106:
		body = pick(g, "", "00", "00000001", "000000027a", "0000000472656c78",
			"0000000472656c780000", "7fffffff", "fffffffe00")
	case 102:
		c.lost = true
	case -10:
		body = pick(g, "", "00", "0000ea", "0000ea60", "0000ea60ffff")
	}
	return strings.TrimSpace(fmt.Sprintf("op %d %s", op, body))
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }
