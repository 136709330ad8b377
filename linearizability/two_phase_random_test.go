package linearizability

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// stage plays one correct transaction of sites a, b and c.
type stage struct {
	*simulator
	model    model.Transaction
	children []string // of its znode
}

// randomTwoPhase makes valid histories of one transaction. The calls of a site must fit its
// knowledge, so a client z applies the actions of the others beside the calls.
func randomTwoPhase(t *rapid.T) History {
	s := &stage{simulator: &simulator{t: t}}
	s.begin = func(client string) (kind, input string) {
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
	s.apply = s.act
	return s.play()
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
	s.creates(client, 0, "/t/t1/"+name, data, 0)
	s.children = append(s.children, name)
}

func (s *stage) act(client, kind, input string) Result {
	site := model.Sites(1 << (client[0] - 'a'))
	switch kind {
	case ops.Begin:
		if s.model.Phase == model.NotBegun {
			s.try(model.TransactionOp{Kind: model.BeginTransaction, Sites: 7})
			s.creates(client, 0, "/t/t1", "", 0)
			return Result{}
		}
		return Result{Output: "there is one"}
	case ops.Vote:
		vote := input[len("t1 a "):]
		says := map[string]model.TransactionKind{"yes": model.VoteYes, "no": model.VoteNo}[vote]
		if s.try(model.TransactionOp{Kind: says, Sites: site}) {
			s.child(client, "vote-"+client, vote)
			return Result{}
		}
		return Result{Output: "refused"}
	case ops.Await:
		return s.await(client)
	case ops.Done:
		if s.model.Done&site == 0 && s.try(model.TransactionOp{Kind: model.Finish, Sites: site}) {
			s.child(client, "done-"+client, "")
			return Result{}
		}
	case ops.Forget:
		if s.try(model.TransactionOp{Kind: model.Forget}) {
			s.clear(client)
			return Result{}
		}
	}
	s.next()
	return Result{Output: "refused"}
}

// clear deletes all children in one request.
func (s *stage) clear(client string) {
	zxid := s.step + 1
	for _, name := range append(s.children, "") {
		path := "/t/t1"
		if name != "" {
			path += "/" + name
		}
		s.deletes(client, 0, path, 0)
		s.h.Server[len(s.h.Server)-1].Zxid = zxid
	}
}

// await decides, if there is a reason now or by the deadline, and returns the decision.
func (s *stage) await(client string) Result {
	if s.model.Phase == model.Undecided {
		if s.model.No == 0 && s.model.Yes != s.model.Sites {
			s.step = max(s.step, 300)
		}
		if s.try(model.TransactionOp{Kind: model.Commit}) {
			s.child(client, "decision", "commit")
		} else if s.try(model.TransactionOp{Kind: model.Abort, Late: true}) {
			s.child(client, "decision", "abort")
		}
	} else {
		s.next()
	}
	switch s.model.Phase {
	case model.Committed:
		return Result{Output: ops.Commit}
	case model.Aborted:
		return Result{Output: ops.Abort}
	}
	return Result{Empty: true}
}

// honest marks refused calls, and a second begin, as failed.
func honest(h History) History {
	for i := range h.Ops {
		if op := &h.Ops[i]; op.ok() && op.Kind != ops.Await && op.Output != "" {
			op.Outcome, op.Output = OpFailed, ""
		}
	}
	return h
}

func randomTransaction(t *rapid.T) History { return honest(randomTwoPhase(t)) }

func judgeTwoPhaseAtT(h History) Report { return Judge(h, &Leftovers{}, twoPhaseAtT) }

func TestCorrectTwoPhaseCommitsAreFoundCorrect(t *testing.T) {
	checkValid(t, randomTransaction, judgeTwoPhaseAtT)
}

func TestCorrectTwoPhaseCommitsWithoutLog(t *testing.T) {
	checkValid(t, func(t *rapid.T) History {
		h := randomTransaction(t)
		h.Server = nil
		return h
	}, judgeTwoPhaseAtT)
}

func TestBrokenTwoPhaseCommitsAreFoundBroken(t *testing.T) {
	checkMutations(t, randomTransaction, judgeTwoPhaseAtT, []mutation{
		{"a vote that never was", dropChange(ops.Vote), []string{Delivery, Safety}, 0},
		{"a begin that never was", dropChange(ops.Begin), []string{Delivery, Safety}, 0},
		{"failed, and applied", sayFailed(ops.Begin, ops.Vote, ops.Done, ops.Forget),
			[]string{Delivery}, 70},
		{"told otherwise", tellOtherwise, []string{Answers}, 0},
		{"told nothing", tellNothing, []string{Answers}, 60},
		{"another decision", changeDecision, []string{Safety}, 0},
		{"a vote overwritten", changeVote, []string{Safety}, 0},
		{"a decision too early", decideEarly, []string{Safety}, 0},
		{"a commit without all votes", commitAnyhow, []string{Safety}, 0},
		{"a hanging call", neverReturns(ops.Begin, ops.Vote, ops.Await, ops.Done, ops.Forget),
			[]string{Liveness}, 0},
	})
}

// tellOtherwise makes an await return the opposite.
func tellOtherwise(t *rapid.T, h *History) bool {
	op := one(t, h.Ops, func(op *Op) bool { return op.Kind == ops.Await && op.ok() && !op.Empty })
	if op != nil {
		op.Output = map[string]string{ops.Commit: ops.Abort, ops.Abort: ops.Commit}[op.Output]
	}
	return op != nil
}

// tellNothing makes an await find no transaction.
func tellNothing(t *rapid.T, h *History) bool {
	op := one(t, h.Ops, func(op *Op) bool { return op.Kind == ops.Await && op.ok() && !op.Empty })
	if op != nil {
		op.Output, op.Empty = "", true
	}
	return op != nil
}

// overwrite changes the data of a znode, soon after it was created.
func overwrite(t *rapid.T, h *History, fits func(path string) bool, other map[string]string) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool {
		return e.Kind == NodeCreated && fits(e.Path)
	})
	if e == nil {
		return false
	}
	h.Server = append(h.Server, ServerEvent{Step: e.Step, Zxid: -1, Kind: DataChanged, Path: e.Path,
		Data: other[e.Data], Client: e.Client})
	return true
}

func changeDecision(t *rapid.T, h *History) bool {
	return overwrite(t, h, func(path string) bool { return path == "/t/t1/decision" },
		map[string]string{"commit": "abort", "abort": "commit"})
}

func changeVote(t *rapid.T, h *History) bool {
	return overwrite(t, h, func(path string) bool { return strings.HasPrefix(path, "/t/t1/vote-") },
		map[string]string{"yes": "no", "no": "yes"})
}

// decideEarly adds an abort right after the begin.
func decideEarly(t *rapid.T, h *History) bool {
	e := one(t, h.Server,
		func(e *ServerEvent) bool {
			return e.Path == "/t/t1" && e.Kind == NodeCreated && e.Step < 290
		})
	if e == nil {
		return false
	}
	early := ServerEvent{Step: e.Step + 1, Time: e.Time, Zxid: -1, Kind: NodeCreated,
		Path: "/t/t1/decision", Data: "abort", Client: "a"}
	h.Server = append(h.Server, early)
	return true
}

// commitAnyhow turns an abort into a commit, in the log and in all awaits.
func commitAnyhow(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool { return e.Data == "abort" })
	if e == nil {
		return false
	}
	e.Data = "commit"
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == ops.Await && op.Output != "" {
			op.Output = ops.Commit
		}
	}
	return true
}
