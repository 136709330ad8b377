package linearizability

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// historyTest is one history with the expected verdict. bad names the violated property, "" if none
// is; says is a part of its summary.
type historyTest[C any] struct {
	name      string
	build     func(f *fixture)
	opts      C
	bad, says string
}

// claimTest is a historyTest of claims without options.
type claimTest = historyTest[struct{}]

// checkHistories judges each history by claims made from its options. end is called after each
// build.
func checkHistories[C any](
	t *testing.T, claims func(opts C) Claims, tests []historyTest[C], end ...func(f *fixture),
) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			tt.build(f)
			for _, end := range end {
				end(f)
			}
			report := Judge(f.history(), f.left, claims(tt.opts))
			checkReport(t, report, tt.bad, tt.says)
			f.deeper()
			if deep := Judge(f.history(), f.left,
				claims(tt.opts)); statuses(deep) != statuses(report) {
				t.Errorf("one level deeper the verdicts are\n%s\nand were\n%s", deep, report)
			}
		})
	}
}

func statuses(r Report) string {
	var list []string
	for _, v := range r.Verdicts {
		list = append(list, v.Property, v.Status.String())
	}
	return strings.Join(list, " ")
}

// deeper moves the znodes of a lock or a double barrier down by one level.
func (f *fixture) deeper() {
	move := func(path *string) {
		for _, dir := range []string{"/lock", "/d"} {
			if under, ok := strings.CutPrefix(*path, dir); ok {
				*path = dir + "/deep" + under
			}
		}
	}
	for i := range f.h.Server {
		move(&f.h.Server[i].Path)
	}
	if f.left == nil {
		return
	}
	for i := range f.left.Nodes {
		move(&f.left.Nodes[i].Path)
	}
	for i := range f.left.Waiting {
		move(&f.left.Waiting[i].Path)
	}
}

// atRest ends a history with nothing left.
func atRest(f *fixture) { f.left = &Leftovers{} }

// always returns the same claims for each test.
func always(claims Claims) func(struct{}) Claims {
	return func(struct{}) Claims { return claims }
}

// fixture makes a history by hand, one step at a time.
type fixture struct {
	h    History
	step int64
	left *Leftovers
}

// next begins a step and returns its number and its time.
func (f *fixture) next() (int64, time.Duration) {
	f.step++
	return f.step, time.Duration(f.step) * time.Millisecond
}

// call begins an operation and returns its index, for ret.
func (f *fixture) call(client, kind, input string) int {
	step, now := f.next()
	f.h.Ops = append(f.h.Ops, Op{Client: client, Kind: kind, Input: input, Call: step,
		CallTime: now, Return: -1})
	return len(f.h.Ops) - 1
}

func (f *fixture) ret(op int, outcome Outcome, r Result) {
	o := &f.h.Ops[op]
	o.Outcome = outcome
	o.Return, o.ReturnTime = f.next()
	o.Output, o.Empty, o.Token, o.Session = r.Output, r.Empty, r.Token, r.Session
	if outcome != OpOK {
		o.Err = "connection closed"
	}
}

// server adds a change at the server; the czxid of a new znode is its step.
func (f *fixture) server(e ServerEvent) int64 {
	if e.Session == 0 && e.Client != "" {
		e.Session = int64(e.Client[0]) // a test of a queue need not choose sessions
	}
	e.Step, e.Time = f.next()
	e.Zxid = e.Step
	if e.Kind == NodeCreated {
		e.Czxid = e.Step
	}
	f.h.Server = append(f.h.Server, e)
	return e.Step
}

func (f *fixture) starts(client string, session int64) {
	f.server(ServerEvent{Kind: SessionStarted, Session: session, Owner: session, Client: client})
}

func (f *fixture) creates(client string, session int64, path, data string, owner int64) int64 {
	return f.server(ServerEvent{Kind: NodeCreated, Session: session, Client: client, Path: path,
		Data: data, Owner: owner})
}

func (f *fixture) deletes(client string, session int64, path string, notified int) int64 {
	return f.server(ServerEvent{Kind: NodeDeleted, Session: session, Client: client, Path: path,
		Notified: notified})
}

// expires ends the session, and deletes the paths in the same step.
func (f *fixture) expires(session int64, paths ...string) {
	step := f.server(ServerEvent{Kind: SessionEnded, Owner: session})
	for _, path := range paths {
		f.h.Server = append(f.h.Server, ServerEvent{Step: step,
			Time: time.Duration(step) * time.Millisecond, Zxid: step, Kind: NodeDeleted,
			Path: path, Owner: session})
	}
}

func (f *fixture) told(client string, kind NoticeKind) {
	step, now := f.next()
	f.h.Notices = append(f.h.Notices, Notice{Client: client, Step: step, Time: now, Kind: kind})
}

func (f *fixture) loses(client string, token int64) {
	f.told(client, LockLost)
	f.h.Notices[len(f.h.Notices)-1].Token = token
}

func (f *fixture) history() History {
	f.h.End, f.h.EndTime = f.step, time.Duration(f.step)*time.Millisecond
	return f.h
}

func checkReport(t *testing.T, r Report, bad, says string) {
	t.Helper()
	if bad == "" {
		check.Equal(t, r.Status(), OK, "a good history was not found good:\n%s", r)
		return
	}
	v, judged := r.Verdict(bad)
	if !judged || v.Status != Violated {
		t.Fatalf("%s should be violated:\n%s", bad, r)
	}
	if !strings.Contains(v.Summary, says) {
		t.Errorf("%s says\n  %s\nwithout\n  %s", bad, v.Summary, says)
	}
}

// stores changes the data of a znode.
func (f *fixture) stores(client, path, data string) {
	f.server(ServerEvent{Kind: DataChanged, Client: client, Path: path, Data: data})
}

// checkPorcupineVerdict: linearizability is violated for this reason, or holds if says is "".
func checkPorcupineVerdict(t *testing.T, r Report, says string) {
	t.Helper()
	want := Violated
	if says == "" {
		want = OK
	}
	v, _ := r.Verdict(Linearizability)
	if v.Status != want || !strings.Contains(v.Summary, says) {
		t.Errorf("got %s\nwant %s: %s", v, want, says)
	}
}

// checkLateness: b is late at 102 ms. A disconnect during the patience of 50 ms, or before it,
// excuses b.
func checkLateness(t *testing.T, judge func([]Notice) Report) {
	type told struct {
		kind NoticeKind
		at   int64 // step, and ms
	}
	for _, test := range []struct {
		notices []told
		bad     string
	}{
		{nil, Liveness},
		{[]told{{Connected, 1}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}}, ""},
		{[]told{{Connected, 1}, {SessionExpired, 20}}, ""},
		{[]told{{Connected, 1}, {LockLost, 20}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 40}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 70}}, ""},
		{
			[]told{
				{Connected, 1}, {Disconnected, 20}, {SessionExpired, 30}, {Connected, 40},
			}, Liveness,
		},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 30}, {Disconnected, 40}}, ""},
		{[]told{{Disconnected, 20}}, Liveness}, // a history without connections
	} {
		t.Run(fmt.Sprint(test.notices), func(t *testing.T) {
			var notices []Notice
			for _, n := range test.notices {
				notices = append(notices, Notice{
					Client: "b", Step: n.at, Time: time.Duration(n.at) * time.Millisecond,
					Kind: n.kind,
				})
			}
			checkReport(t, judge(notices), test.bad, "")
		})
	}
}

// passSteps lets some steps pass.
func (f *fixture) passSteps(steps int) {
	for range steps {
		f.next()
	}
}
