package testconn

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
)

// rules say what happens to the requests of a connection, and record them.
type rules struct {
	mu     sync.Mutex
	calls  []string
	rules  []*Rule
	cuts   int        // the number of requests that fail at once
	states []zk.State // the results of State, in turn, while cuts remain
}

// Rule is the fate of one request. The zero Rule changes nothing.
type Rule struct {
	Before func()     // called before the request is sent; may be nil
	Fault  fault.Kind // of the request, in fakezk: DropRequest or DropReply; "": none
	Lose   bool       // the request is not sent
	After  func()     // called when the request has ended; may be nil
	Err    error      // returned in place of the answer; nil: the answer is

	op  string
	nth int
}

// The ways in which one request can fail.
var (
	LoseReply   = Rule{Fault: fault.DropReply}
	LoseRequest = Rule{Fault: fault.DropRequest}
	// NetError is the error of a write that has failed, although all of it has arrived.
	NetError = Rule{Err: io.ErrClosedPipe}
	// NoServer is the failure of an unsent request while no server can be dialled.
	NoServer = Rule{Lose: true, Err: zk.ErrNoServer}
	Refused  = Rule{Lose: true, Err: zk.ErrNoAuth}
)

// On sets a rule for the n-th request of a kind from now, not counting requests that earlier rules
// take. The kind "" is any.
func (rs *rules) On(op string, nth int, r Rule) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.op, r.nth = op, nth
	rs.rules = append(rs.rules, &r)
}

// Off ends all rules.
func (rs *rules) Off() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.rules = nil
}

// Calls returns the requests so far, as "create /path".
func (rs *rules) Calls() []string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return slices.Clone(rs.calls)
}

// Called counts the requests of a kind so far.
func (rs *rules) Called(op string) (n int) {
	for _, call := range rs.Calls() {
		if strings.HasPrefix(call, op+" ") {
			n++
		}
	}
	return n
}

// Cut fails the next n requests at once, as a server does that resets each connection, while State
// says these states in turn.
func (rs *rules) Cut(n int, states ...zk.State) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.cuts, rs.states = n, states
}

// cutState returns the next state that Cut has set, if requests are cut.
func (rs *rules) cutState() (state zk.State, is bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.cuts == 0 || len(rs.states) == 0 {
		return 0, false
	}
	state = rs.states[0]
	rs.states = append(rs.states[1:], state)
	return state, true
}

// begin notes a request, and returns the rule for it, and whether it is cut.
func (rs *rules) begin(op, path string) (r Rule, cut bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.calls = append(rs.calls, op+" "+path)
	if rs.cuts > 0 {
		rs.cuts--
		return Rule{}, true
	}
	for i, r := range rs.rules {
		if r.op != op && r.op != "" {
			continue
		}
		if r.nth--; r.nth == 0 {
			rs.rules = slices.Delete(rs.rules, i, i+1)
			return *r, false
		}
	}
	return Rule{}, false
}
