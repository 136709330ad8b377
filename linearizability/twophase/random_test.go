package twophase

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// stage plays one correct transaction of sites a, b and c.
type stage struct {
	*judgingtest.Simulator
	model    model.Transaction
	children []string // of its znode
}

// randomTwoPhase makes valid histories of one transaction. The calls of a site must fit its
// knowledge, so a client z applies the actions of the others beside the calls.
func randomTwoPhase(t *rapid.T) lin.History {
	s := &stage{Simulator: &judgingtest.Simulator{Fixture: &judgingtest.Fixture{}, T: t}}
	s.Begin = func(client string) (kind, input string) {
		calls := []string{
			ops.Begin, ops.Begin, ops.Begin, ops.Begin, ops.Vote, ops.Await, ops.Forget,
		}
		switch {
		case s.model.Phase == model.Undecided && s.model.Yes|s.model.No != s.model.Sites:
			calls = []string{ops.Begin, ops.Vote, ops.Vote, ops.Vote, ops.Vote, ops.Vote, ops.Vote,
				ops.Vote, ops.Await, ops.Await, ops.Forget}
		case s.model.Phase != model.NotBegun:
			calls = []string{
				ops.Vote, ops.Await, ops.Await, ops.Await, ops.Done, ops.Done, ops.Forget,
			}
		}
		switch rapid.SampledFrom(calls).Draw(t, "call") {
		case ops.Vote:
			return ops.Vote, "t1 " + client + map[bool]string{true: " yes",
				false: " no"}[client != "c" || rapid.IntRange(0, 7).Draw(t, "no") > 0]
		case ops.Await:
			return ops.Await, "t1"
		case ops.Done:
			return ops.Done, "t1 " + client
		case ops.Forget:
			return ops.Forget, "t1"
		}
		return ops.Begin, BeginInput("t1", []string{"a", "b", "c"}, 300*time.Millisecond)
	}
	s.Apply = s.act
	return s.Play()
}

// try applies an operation if the model allows it, and records it as the creation or deletion of a
// child.
func (s *stage) try(op model.TransactionOp) bool {
	next := s.model.Step(op)
	if len(next) == 0 {
		return false
	}
	s.model = next[0]
	return true
}

func (s *stage) child(client, name, data string) {
	s.Creates(client, 0, "/t/t1/"+name, data, 0)
	s.children = append(s.children, name)
}

func (s *stage) act(client, kind, input string) lin.Result {
	site := model.Sites(1 << (client[0] - 'a'))
	switch kind {
	case ops.Begin:
		if s.model.Phase == model.NotBegun {
			s.try(model.TransactionOp{Kind: model.BeginTransaction, Sites: 7})
			s.Creates(client, 0, "/t/t1", "", 0)
			return lin.Result{}
		}
		return lin.Result{Output: "there is one"}
	case ops.Vote:
		vote := input[len("t1 a "):]
		says := map[string]model.TransactionKind{"yes": model.VoteYes, "no": model.VoteNo}[vote]
		if s.try(model.TransactionOp{Kind: says, Sites: site}) {
			s.child(client, "vote-"+client, vote)
			return lin.Result{}
		}
		return lin.Result{Output: "refused"}
	case ops.Await:
		return s.await(client)
	case ops.Done:
		if s.model.Done&site == 0 && s.try(model.TransactionOp{Kind: model.Finish, Sites: site}) {
			s.child(client, "done-"+client, "")
			return lin.Result{}
		}
	case ops.Forget:
		if s.try(model.TransactionOp{Kind: model.Forget}) {
			s.clear(client)
			return lin.Result{}
		}
	}
	s.Next()
	return lin.Result{Output: "refused"}
}

// clear deletes all children in one request.
func (s *stage) clear(client string) {
	zxid := s.Step + 1
	for _, name := range append(s.children, "") {
		path := "/t/t1"
		if name != "" {
			path += "/" + name
		}
		s.Deletes(client, 0, path, 0)
		s.H.Server[len(s.H.Server)-1].Zxid = zxid
	}
}

// await decides, if there is a reason now or by the deadline, and returns the decision.
func (s *stage) await(client string) lin.Result {
	if s.model.Phase == model.Undecided {
		if s.model.No == 0 && s.model.Yes != s.model.Sites {
			s.Step = max(s.Step, 300)
		}
		if s.try(model.TransactionOp{Kind: model.Commit}) {
			s.child(client, "decision", "commit")
		} else if s.try(model.TransactionOp{Kind: model.Abort, Late: true}) {
			s.child(client, "decision", "abort")
		}
	} else {
		s.Next()
	}
	switch s.model.Phase {
	case model.Committed:
		return lin.Result{Output: ops.Commit}
	case model.Aborted:
		return lin.Result{Output: ops.Abort}
	}
	return lin.Result{Empty: true}
}

// honest marks refused calls, and a second begin, as failed.
func honest(h lin.History) lin.History {
	for i := range h.Ops {
		if op := &h.Ops[i]; op.OK() && op.Kind != ops.Await && op.Output != "" {
			op.Outcome, op.Output = lin.OpFailed, ""
		}
	}
	return h
}

func randomTransaction(t *rapid.T) lin.History { return honest(randomTwoPhase(t)) }

func judgeTwoPhaseAtT(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, twoPhaseAtT)
}

func TestCorrectTwoPhaseCommitsAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomTransaction, judgeTwoPhaseAtT)
}

func TestCorrectTwoPhaseCommitsWithoutLog(t *testing.T) {
	judgingtest.CheckValid(t, func(t *rapid.T) lin.History {
		h := randomTransaction(t)
		h.Server = nil
		return h
	}, judgeTwoPhaseAtT)
}

func TestBrokenTwoPhaseCommitsAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomTransaction, judgeTwoPhaseAtT, []mutation{
		{"a vote that never was", judgingtest.DropChange(ops.Vote), []string{lin.Delivery, lin.Safety}, 0},
		{"a begin that never was", judgingtest.DropChange(ops.Begin), []string{lin.Delivery, lin.Safety}, 0},
		{"failed, and applied", judgingtest.SayFailed(ops.Begin, ops.Vote, ops.Done, ops.Forget),
			[]string{lin.Delivery}, 70},
		{"told otherwise", tellOtherwise, []string{lin.Answers}, 0},
		{"told nothing", tellNothing, []string{lin.Answers}, 60},
		{"another decision", changeDecision, []string{lin.Safety}, 0},
		{"a vote overwritten", changeVote, []string{lin.Safety}, 0},
		{"a decision too early", decideEarly, []string{lin.Safety}, 0},
		{"a commit without all votes", commitAnyhow, []string{lin.Safety}, 0},
		{"a hanging call", judgingtest.NeverReturns(ops.Begin, ops.Vote, ops.Await, ops.Done, ops.Forget),
			[]string{lin.Liveness}, 0},
	})
}

func awaited(op *lin.Op) bool { return op.Kind == ops.Await && op.OK() && !op.Empty }

// tellOtherwise makes an await return the opposite.
var tellOtherwise = judgingtest.OnCall(awaited, func(_ *lin.History, op *lin.Op) {
	op.Output = map[string]string{ops.Commit: ops.Abort, ops.Abort: ops.Commit}[op.Output]
})

// tellNothing makes an await find no transaction.
var tellNothing = judgingtest.OnCall(awaited, func(_ *lin.History, op *lin.Op) {
	op.Output, op.Empty = "", true
})

// overwrite changes the data of a znode, soon after it was created.
func overwrite(path string, other map[string]string) func(*rapid.T, *lin.History) bool {
	return judgingtest.OnEvent(func(_ *lin.History, e *lin.ServerEvent) bool {
		return e.Kind == lin.NodeCreated && strings.HasPrefix(e.Path, path)
	}, func(h *lin.History, e *lin.ServerEvent) {
		h.Server = append(h.Server, lin.ServerEvent{Step: e.Step, Zxid: -1,
			Kind: lin.DataChanged, Path: e.Path, Data: other[e.Data], Client: e.Client})
	})
}

var (
	changeDecision = overwrite("/t/t1/decision",
		map[string]string{"commit": "abort", "abort": "commit"})
	changeVote = overwrite("/t/t1/vote-", map[string]string{"yes": "no", "no": "yes"})
)

// decideEarly adds an abort right after the begin.
var decideEarly = judgingtest.OnEvent(func(_ *lin.History, e *lin.ServerEvent) bool {
	return e.Path == "/t/t1" && e.Kind == lin.NodeCreated && e.Step < 290
}, func(h *lin.History, e *lin.ServerEvent) {
	h.Server = append(h.Server, lin.ServerEvent{Step: e.Step + 1, Time: e.Time, Zxid: -1,
		Kind: lin.NodeCreated, Path: "/t/t1/decision", Data: "abort", Client: "a"})
})

// commitAnyhow turns an abort into a commit, in the log and in all awaits.
var commitAnyhow = judgingtest.OnEvent(func(_ *lin.History, e *lin.ServerEvent) bool {
	return e.Data == "abort"
}, func(h *lin.History, e *lin.ServerEvent) {
	e.Data = "commit"
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == ops.Await && op.Output != "" {
			op.Output = ops.Commit
		}
	}
})
