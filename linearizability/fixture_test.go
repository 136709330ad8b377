package linearizability

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
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

// node returns the path of the n-th lock znode of a client.
func node(client string, n int) string { return fmt.Sprintf("/lock/%s-%010d", client, n) }

// lock records a complete lock; it returns the token.
func (f *fixture) lock(client string, session int64, path string) int64 {
	op := f.call(client, ops.Lock, "")
	token := f.creates(client, session, path, "", session)
	f.ret(op, OpOK, Result{Token: token, Session: session})
	return token
}

// unlock records a complete unlock.
func (f *fixture) unlock(client string, session int64, path string) {
	op := f.call(client, ops.Unlock, "")
	f.deletes(client, session, path, 1)
	f.ret(op, OpOK, Result{Session: session})
}

// offer records a complete offer.
func (f *fixture) offer(client string, value string) {
	op := f.call(client, ops.Offer, value)
	f.creates(client, 0, "/q/"+value, value, 0)
	f.ret(op, OpOK, Result{})
}

// take records a complete take.
func (f *fixture) take(client string, value string) {
	op := f.call(client, ops.Take, "")
	f.deletes(client, 0, "/q/"+value, 0)
	f.ret(op, OpOK, Result{Output: value})
}
