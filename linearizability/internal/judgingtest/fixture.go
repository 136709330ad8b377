package judgingtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
)

// HistoryTest is one history with the expected verdict. It is made by F, the fixture of a family of
// objects, which embeds a [Fixture]. A family has a type of its own with these fields.
type HistoryTest[F, C any] struct {
	Name  string
	Steps string     // in the [Notation] of the family
	Build func(f *F) // what the notation cannot say: it comes after the steps
	Opts  C          // for the claims
	// Bad names the violated property, "" if none is; Says is a part of its summary.
	Bad, Says string
}

// made is a pointer to a struct F that embeds a Fixture.
type made[F any] interface {
	*F
	base() *Fixture
	Plays(steps string)
}

// CheckHistories judges each history by claims made from its options. end is called after each
// build.
func CheckHistories[C, F any, P made[F], T ~struct {
	Name      string
	Steps     string
	Build     func(f *F)
	Opts      C
	Bad, Says string
}](t *testing.T, claims func(opts C) lin.Claims, tests []T, end ...func(f *F)) {
	for _, one := range tests {
		tt := HistoryTest[F, C](one)
		t.Run(tt.Name, func(t *testing.T) {
			var of P = new(F)
			f := of.base()
			of.Plays(tt.Steps)
			if tt.Build != nil {
				tt.Build(of)
			}
			for _, end := range end {
				end(of)
			}
			report := Judge(f.History(), f.Left, claims(tt.Opts))
			CheckReport(t, report, tt.Bad, tt.Says)
			f.deeper()
			if deep := Judge(f.History(), f.Left,
				claims(tt.Opts)); statuses(deep) != statuses(report) {
				t.Errorf("one level deeper the verdicts are\n%s\nand were\n%s", deep, report)
			}
		})
	}
}

func statuses(r lin.Report) string {
	var list []string
	for _, v := range r.Verdicts {
		list = append(list, v.Property, v.Status.String())
	}
	return strings.Join(list, " ")
}

// deeper moves the znodes of a lock or a double barrier down by one level.
func (f *Fixture) deeper() {
	move := func(path *string) {
		for _, dir := range []string{"/lock", "/d"} {
			if under, ok := strings.CutPrefix(*path, dir); ok {
				*path = dir + "/deep" + under
			}
		}
	}
	for i := range f.H.Server {
		move(&f.H.Server[i].Path)
	}
	if f.Left == nil {
		return
	}
	for i := range f.Left.Nodes {
		move(&f.Left.Nodes[i].Path)
	}
	for i := range f.Left.Waiting {
		move(&f.Left.Waiting[i].Path)
	}
}

// AtRest ends a history with nothing left, if it does not say what is left.
func AtRest[F any, P made[F]](of *F) {
	if f := P(of).base(); f.Left == nil {
		f.Left = &lin.Leftovers{}
	}
}

// Always returns the same claims for each test.
func Always(claims lin.Claims) func(struct{}) lin.Claims {
	return func(struct{}) lin.Claims { return claims }
}

// Fixture makes a history by hand, one step at a time.
type Fixture struct {
	H    lin.History
	Step int64
	Left *lin.Leftovers
}

func (f *Fixture) base() *Fixture { return f }

// Plays adds steps in the notation of a family without one of its own.
func (f *Fixture) Plays(steps string) { f.Play(Notation{}, steps) }

// Next begins a step and returns its number and its time.
func (f *Fixture) Next() (int64, time.Duration) {
	f.Step++
	return f.Step, time.Duration(f.Step) * time.Millisecond
}

// Call begins an operation and returns its index, for Ret.
func (f *Fixture) Call(client, kind, input string) int {
	step, now := f.Next()
	f.H.Ops = append(f.H.Ops, lin.Op{Client: client, Kind: kind, Input: input, Call: step,
		CallTime: now, Return: -1})
	return len(f.H.Ops) - 1
}

func (f *Fixture) Ret(op int, outcome lin.Outcome, r lin.Result) {
	o := &f.H.Ops[op]
	o.Outcome = outcome
	o.Return, o.ReturnTime = f.Next()
	o.Output, o.Empty, o.Token, o.Session = r.Output, r.Empty, r.Token, r.Session
	if outcome != lin.OpOK {
		o.Err = "connection closed"
	}
}

// Server adds a change at the server; the czxid of a new znode is its step.
func (f *Fixture) Server(e lin.ServerEvent) int64 {
	if e.Session == 0 && e.Client != "" {
		e.Session = int64(e.Client[0]) // a test of a queue need not choose sessions
	}
	e.Step, e.Time = f.Next()
	e.Zxid = e.Step
	if e.Kind == lin.NodeCreated {
		e.Czxid = e.Step
	}
	f.H.Server = append(f.H.Server, e)
	return e.Step
}

func (f *Fixture) Starts(client string, session int64) {
	f.Server(lin.ServerEvent{Kind: lin.SessionStarted, Session: session, Owner: session,
		Client: client})
}

func (f *Fixture) Creates(client string, session int64, path, data string, owner int64) int64 {
	return f.Server(lin.ServerEvent{Kind: lin.NodeCreated, Session: session, Client: client,
		Path: path,
		Data: data, Owner: owner})
}

func (f *Fixture) Deletes(client string, session int64, path string, notified int) int64 {
	return f.Server(lin.ServerEvent{Kind: lin.NodeDeleted, Session: session, Client: client,
		Path:     path,
		Notified: notified})
}

// Expires ends the session, and deletes the paths in the same step.
func (f *Fixture) Expires(session int64, paths ...string) {
	step := f.Server(lin.ServerEvent{Kind: lin.SessionEnded, Owner: session})
	for _, path := range paths {
		f.H.Server = append(f.H.Server, lin.ServerEvent{Step: step,
			Time: time.Duration(step) * time.Millisecond, Zxid: step, Kind: lin.NodeDeleted,
			Path: path, Owner: session})
	}
}

func (f *Fixture) Told(client string, kind lin.NoticeKind) {
	step, now := f.Next()
	f.H.Notices = append(f.H.Notices, lin.Notice{Client: client, Step: step, Time: now, Kind: kind})
}

func (f *Fixture) History() lin.History {
	f.H.End, f.H.EndTime = f.Step, time.Duration(f.Step)*time.Millisecond
	return f.H
}

func CheckReport(t *testing.T, r lin.Report, bad, says string) {
	t.Helper()
	if bad == "" {
		check.Equal(t, r.Status(), lin.OK, "a good history was not found good:\n%s", r)
		return
	}
	v, judged := r.Verdict(bad)
	if !judged || v.Status != lin.Violated {
		t.Fatalf("%s should be violated:\n%s", bad, r)
	}
	if !strings.Contains(v.Summary, says) {
		t.Errorf("%s says\n  %s\nwithout\n  %s", bad, v.Summary, says)
	}
}

// Stores changes the data of a znode.
func (f *Fixture) Stores(client, path, data string) {
	f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: client, Path: path, Data: data})
}

// CheckLinearizability: linearizability is violated for this reason, or holds if says is "".
func CheckLinearizability(t *testing.T, r lin.Report, says string) {
	t.Helper()
	want := lin.Violated
	if says == "" {
		want = lin.OK
	}
	v, _ := r.Verdict(lin.Linearizability)
	if v.Status != want || !strings.Contains(v.Summary, says) {
		t.Errorf("got %s\nwant %s: %s", v, want, says)
	}
}

// CheckLateness: b is late at 102 ms. A disconnect during the patience of 50 ms, or before it,
// excuses b.
func CheckLateness(t *testing.T, judge func([]lin.Notice) lin.Report) {
	type told struct {
		kind lin.NoticeKind
		at   int64 // step, and ms
	}
	for _, test := range []struct {
		notices []told
		bad     string
	}{
		{nil, lin.Liveness},
		{[]told{{lin.Connected, 1}}, lin.Liveness},
		{[]told{{lin.Connected, 1}, {lin.Disconnected, 20}}, ""},
		{[]told{{lin.Connected, 1}, {lin.SessionExpired, 20}}, ""},
		{[]told{{lin.Connected, 1}, {lin.LockLost, 20}}, lin.Liveness},
		{[]told{{lin.Connected, 1}, {lin.Disconnected, 20}, {lin.Connected, 40}}, lin.Liveness},
		{[]told{{lin.Connected, 1}, {lin.Disconnected, 20}, {lin.Connected, 70}}, ""},
		{
			[]told{
				{lin.Connected, 1}, {lin.Disconnected, 20}, {lin.SessionExpired,
					30}, {lin.Connected, 40},
			}, lin.Liveness,
		},
		{[]told{{lin.Connected, 1}, {lin.Disconnected, 20}, {lin.Connected, 30}, {lin.Disconnected, 40}}, ""},
		{[]told{{lin.Disconnected, 20}}, lin.Liveness}, // a history without connections
	} {
		t.Run(fmt.Sprint(test.notices), func(t *testing.T) {
			var notices []lin.Notice
			for _, n := range test.notices {
				notices = append(notices, lin.Notice{
					Client: "b", Step: n.at, Time: time.Duration(n.at) * time.Millisecond,
					Kind: n.kind,
				})
			}
			CheckReport(t, judge(notices), test.bad, "")
		})
	}
}
