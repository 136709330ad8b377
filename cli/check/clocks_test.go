package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
)

// plays is a server with an object, and processes that use it, in true time.
type plays struct {
	*rand.Rand
	kind  string
	wrong bool
	think int // the longest time between two calls, in milliseconds
	now   time.Duration
	next  []later
	files []record.File
	log   []record.Change
	// The object: names of znodes in their order, the number of a counter, views by time.
	nodes  []string
	waits  map[string]func()
	number int
	views  map[time.Duration]string
}

type later struct {
	at time.Duration
	do func()
}

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func (p *plays) after(d time.Duration, do func()) { p.next = append(p.next, later{p.now + d, do}) }

func (p *plays) upTo(ms int) time.Duration {
	return time.Duration(100_000 + p.IntN(ms*1_000_000))
}

func (p *plays) change(kind lin.ServerEventKind, client int, name, data string) int64 {
	zxid, czxid := int64(len(p.log)+1), int64(0)
	owner := int64(client + 1)
	if p.kind == "queue" || p.kind == "counter" {
		owner = 0
	}
	for _, c := range p.log {
		if c.Path == "/o"+name && c.Kind == lin.NodeCreated {
			czxid = c.Czxid
		}
	}
	if kind == lin.NodeCreated {
		czxid = zxid
	}
	p.log = append(p.log, record.Change{ServerEvent: lin.ServerEvent{Kind: kind, Path: "/o" + name,
		Data: data, Zxid: zxid, Czxid: czxid, Session: int64(client + 1), Owner: owner},
		Clock: noon.Add(p.now).Truncate(time.Millisecond)})
	return zxid
}

// call lets a client call; at the server the request does something, and then returns.
func (p *plays) call(i int, kind, input string, request func(returns func(lin.Op)), then func()) {
	op := lin.Op{Client: fmt.Sprint("c", i), Kind: kind, Input: input, CallTime: p.now}
	p.after(p.upTo(1), func() {
		request(func(result lin.Op) {
			p.after(p.upTo(1), func() {
				op.Output, op.Empty, op.Token = result.Output, result.Empty, result.Token
				op.Outcome, op.Session, op.ReturnTime = lin.OpOK, int64(i+1), p.now
				p.files[i].History.Ops = append(p.files[i].History.Ops, op)
				p.after(p.upTo(p.think), then)
			})
		})
	})
}

// work is what a client does again and again.
func (p *plays) work(i, rounds int) {
	if rounds == 0 {
		return
	}
	again := func() { p.work(i, rounds-1) }
	name := fmt.Sprintf("/n-%d-%d", i, rounds)
	leaves := func(returns func(lin.Op)) {
		p.change(lin.NodeDeleted, i, name, "")
		p.nodes = slices.DeleteFunc(p.nodes, func(n string) bool { return n == name })
		p.views[p.now] = strings.Join(p.nodes, ",")
		if len(p.nodes) > 0 && p.waits[p.nodes[0]] != nil {
			grant := p.waits[p.nodes[0]]
			delete(p.waits, p.nodes[0])
			p.after(p.upTo(1), func() { p.after(p.upTo(1), grant) }) // it hears of it, and reads
		}
		returns(lin.Op{})
	}
	switch p.kind {
	case "lock", "reentrant", "election":
		begin, end := ops.Lock, ops.Unlock
		if p.kind == "election" {
			begin, end = ops.Lead, ops.Resign
		}
		p.call(i, begin, "", func(returns func(lin.Op)) {
			token := p.change(lin.NodeCreated, i, name, "")
			p.nodes = append(p.nodes, name)
			if p.nodes[0] == name || p.wrong && p.IntN(4) == 0 {
				returns(lin.Op{Token: token})
			} else {
				p.waits[name] = func() { returns(lin.Op{Token: token}) }
			}
		}, func() { p.call(i, end, "", leaves, again) })
	case "queue":
		p.call(i, ops.Offer, name[1:], func(returns func(lin.Op)) {
			p.change(lin.NodeCreated, i, name, name[1:])
			p.nodes = append(p.nodes, name)
			returns(lin.Op{})
		}, func() {
			p.call(i, ops.Poll, "", func(returns func(lin.Op)) {
				if len(p.nodes) == 0 {
					returns(lin.Op{Empty: true})
					return
				}
				n := 0
				if p.wrong {
					n = len(p.nodes) - 1
				}
				taken := p.nodes[n]
				p.nodes = slices.Delete(p.nodes, n, n+1)
				p.change(lin.NodeDeleted, i, taken, "")
				returns(lin.Op{Output: taken[1:]})
			}, again)
		})
	case "counter":
		p.call(i, ops.Add, "1", func(returns func(lin.Op)) {
			p.number++
			kind := lin.DataChanged
			if p.number == 1 {
				kind = lin.NodeCreated
			}
			p.change(kind, i, "", fmt.Sprint(p.number))
			returns(lin.Op{Output: fmt.Sprint(p.number)})
		}, func() {
			p.call(i, ops.Get, "", func(returns func(lin.Op)) {
				n := p.number
				if p.wrong && p.IntN(2) == 0 {
					n = max(1, n-6)
				}
				returns(lin.Op{Output: fmt.Sprint(n)})
			}, again)
		})
	case "membership":
		p.call(i, ops.Join, name[1:]+"=x", func(returns func(lin.Op)) {
			p.change(lin.NodeCreated, i, name, "x")
			p.nodes = append(p.nodes, name)
			p.views[p.now] = strings.Join(p.nodes, ",")
			returns(lin.Op{})
		}, func() {
			p.call(i, ops.View, "", func(returns func(lin.Op)) {
				at := p.now
				if p.wrong && p.IntN(2) == 0 {
					at -= 70 * time.Millisecond
				}
				seen, last := "", time.Duration(-1)
				for since, view := range p.views {
					if since <= at && since > last {
						seen, last = view, since
					}
				}
				names := strings.Split(strings.ReplaceAll(seen, "/", ""), ",")
				slices.Sort(names)
				returns(lin.Op{Output: strings.Join(names, ",")})
			}, func() { p.call(i, ops.Leave, name[1:], leaves, again) })
		})
	}
}

// play plays an object, right or wrong, with a file for each process.
func play(kind string, wrong bool, seed uint64) *plays {
	p := &plays{Rand: rand.New(rand.NewPCG(seed, 1)), kind: kind, wrong: wrong,
		think: 10 * (1 + int(seed%4/2)*100),
		waits: map[string]func(){}, views: map[time.Duration]string{}}
	for i := range 2 + int(seed%2) {
		p.files = append(p.files, record.File{Complete: true})
		p.after(p.upTo(5), func() { p.work(i, 6) })
	}
	for len(p.next) > 0 {
		slices.SortStableFunc(p.next, func(a, b later) int { return int(a.at - b.at) })
		e := p.next[0]
		p.next, p.now = p.next[1:], e.at
		e.do()
	}
	return p
}

// seen are the files as processes record them whose clocks are behind, and run slower by a part. A
// re-entrant lock is entered twice, so that it is not known which call has made which change.
func (p *plays) seen(tokens bool, behind []time.Duration, slow []float64) (files []record.File) {
	for i, f := range p.files {
		f.Began = noon.Add(-behind[i])
		h := &f.History
		h.Ops = slices.Clone(h.Ops)
		for n := 0; n < len(h.Ops) && p.kind == "reentrant"; n += 4 {
			outer, inner := h.Ops[n], h.Ops[n]
			inner.CallTime = inner.ReturnTime
			out := inner
			out.Kind, out.Token = ops.Unlock, 0
			h.Ops = slices.Replace(h.Ops, n, n+1, outer, inner, out)
		}
		for n := range h.Ops {
			op := &h.Ops[n]
			op.Call, op.Return = int64(2*n+2), int64(2*n+3)
			for _, at := range []*time.Duration{&op.CallTime, &op.ReturnTime} {
				*at = time.Duration(float64(*at) * (1 - slow[i]))
			}
			if !tokens {
				op.Token = 0
			}
			h.End, h.EndTime = op.Return, op.ReturnTime
		}
		files = append(files, f)
	}
	return files
}

// overlap fails the test if the two grants that a verdict blames were not held at once.
func (p *plays) overlap(t *testing.T, h lin.History, v lin.Verdict) {
	from, to := map[int64]time.Duration{}, map[int64]time.Duration{}
	for _, f := range p.files {
		for i, op := range f.History.Ops {
			if op.Token != 0 {
				from[op.Token], to[op.Token] = op.ReturnTime, f.History.Ops[i+1].ReturnTime
			}
		}
	}
	var both []int64
	for _, op := range h.Ops {
		if slices.Contains(v.Steps, op.Return) {
			both = append(both, op.Token)
		}
	}
	check.Equal(t, len(both), 2, "%s", v)
	if a, b := both[0], both[1]; max(from[a], from[b]) >= min(to[a], to[b]) {
		t.Errorf("seen %v to %v and %v to %v, tokens %d and %d: %s", from[a], to[a], from[b], to[b], a, b, v)
	}
}

// TestNoVerdictContradictsTheTruth: whatever the clocks of the processes show, a right object is
// never accused, and a wrong one is never ok.
func TestNoVerdictContradictsTheTruth(t *testing.T) {
	most := 3 * time.Second
	for _, kind := range []string{"lock", "reentrant", "election", "queue", "counter", "membership"} {
		k, err := findKind(kind)
		check.OK(t, err)
		said := map[string]int{}
		for n := range testrun.Pick(1, 12) {
			seed := uint64(n + 1)
			for what := range 8 {
				wrong, tokens, logged := what%2 > 0, what&2 > 0, what&4 > 0
				if tokens && !k.fences || k.needsServer && !logged {
					continue
				}
				p := play(kind, wrong, seed)
				c := &Command{Path: "/o", Leases: 1, Within: 20 * time.Millisecond,
					Files: []string{"a", "b", "c"}[:len(p.files)]}
				var changes []record.Change
				if logged {
					c.ServerLog, changes = "log", p.log
				}
				judge := func(files []record.File, one bool) string {
					h := histories{files: files, changes: changes}
					if one {
						merged, err := record.Merge(files, c.Files, nil)
						check.OK(t, err)
						h.files = []record.File{merged}
					} else {
						h.clocks, err = record.Align(files, changes)
						check.OK(t, err)
					}
					r, err := c.judgeAll(k, h)
					check.OK(t, err)
					if v, _ := r.Report.Verdict(lin.Safety); tokens && v.Status == lin.Violated {
						p.overlap(t, r.History, v)
					}
					return r.verdict()
				}
				still := make([]time.Duration, 3)
				truth := judge(p.seen(tokens, still, make([]float64, 3)), true)
				if wrong && truth == "ok" {
					continue // nothing went wrong
				}
				shifts := []time.Duration{most, 10 * time.Millisecond, 0}
				for _, by := range testrun.Pick(shifts[what/4:][:1], shifts) {
					behind, slow := slices.Clone(still), make([]float64, 3)
					for i := range behind {
						behind[i] = time.Duration(p.Int64N(int64(2*by+1))) - by
						slow[i] = (p.Float64() - 0.5) * 500e-6
					}
					got := judge(p.seen(tokens, behind, slow), false)
					if got != "undecided" && (got == "ok") == wrong {
						t.Errorf("%s, seed %d, tokens %t, log %t, behind by %v: %s; it is %s", kind, seed, tokens,
							logged, behind, got, truth)
					}
					said[fmt.Sprintf("wrong %t, tokens %t, log %t: %.9s", wrong, tokens, logged, got)]++
				}
			}
		}
		for _, line := range slices.Sorted(maps.Keys(said)) {
			t.Log(kind, line, said[line])
		}
	}
}
