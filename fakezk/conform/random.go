package conform

import (
	"context"
	"fmt"
	"hash/fnv"
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
		ops, diff, err := c.pair.play(ctx, s)
		if err != nil {
			return err
		}
		row.Scripts++
		row.Operations += ops
		if diff != nil {
			smaller, err := c.pair.shrink(ctx, s)
			if err != nil {
				return err
			}
			if smaller == nil {
				c.report.Unrepeated = append(c.report.Unrepeated, *diff)
			} else {
				c.found(row, *smaller)
			}
		}
		c.progress(row.Name)
	}
	return nil
}

// A generator writes random scripts, in the notation of this package. The same
// seed and number give the same script.
type generator struct {
	*rand.Rand
	fresh      bool // "/" may be read and written
	containers bool // nothing but a delete takes containers and TTL nodes away
	sessions   []string
	steps      int // written so far
}

func newGenerator(seed uint64, number int, fresh, containers bool) *generator {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d", seed, number)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), fresh: fresh, containers: containers}
	g.sessions = []string{"a", "b", "c", "d"}[:2+g.IntN(3)]
	return g
}

// script writes n steps, and a few more to come back after a connection's end.
func (g *generator) script(name string, n int) script {
	s := script{family: randomFamily, name: name}
	for g.steps = 0; g.steps < n; g.steps++ {
		session := pick(g, g.sessions...)
		text, after := g.step()
		s.steps = append(s.steps, mustParse(session+" "+text))
		if after != "" && g.IntN(5) > 0 {
			s.steps = append(s.steps, mustParse(session+" "+after))
		}
	}
	return s
}

// step writes one step, without the session, and what should often follow it.
func (g *generator) step() (text, after string) {
	switch n := g.IntN(1000); {
	case n < 20:
		return "drop", "attach"
	case n < 40:
		return "attach" + pick(g, "", "", " password=wrong", " id=unknown", " ahead", " timeout=5000", " ro=none"), ""
	case n < 52:
		return "closeSession", "connect"
	case n < 58:
		return "op " + fmt.Sprint(pick(g, 0, 10, 23, 50, 99, 108, -1, -2, -12)), "attach"
	case n < 62:
		return "auth " + pick(g, "bogus x", "world anyone", "null x", "digest null"), "attach"
	case n < 90:
		return "auth digest " + pick(g, "alice:pw", "alice:pw", "bob:pw", "alice:no", "super:zksim", `""`), ""
	case n < 110:
		return g.broken(), ""
	case n < 114: // not in a burst, where they overtake others
		return pick(g, "sasl", "auth ip x"), ""
	case n < 190:
		return "burst { " + g.list(1+g.IntN(5), g.request) + " }", ""
	}
	return g.request(), ""
}

func (g *generator) list(n int, write func() string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = write()
	}
	return strings.Join(parts, " ; ")
}

// broken writes a request whose body is cut short or anything. addWatch is not
// among them: its path might be null, see watchable.
func (g *generator) broken() string {
	op := pick(g, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 101, 103, 104, 105)
	body := pick(g, "", "00", "00000001", "000000017a00", "ffffffff", "ffffffff00000000", "7fffffff", "fffffffe00")
	if g.fresh && g.IntN(3) == 0 { // these name the root or a child of it
		body = pick(g, "000000012f", "00000000000000000000000000000000", "000000022f7a")
	}
	return strings.TrimSpace(fmt.Sprintf("op %d %s", op, body))
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }
