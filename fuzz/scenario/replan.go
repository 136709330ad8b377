package scenario

import (
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/linearizability"
)

// OKWith reports whether a run that went like this one, but with another plan, violates nothing
// either and leaves nothing undecided. The caller has a proof that it would go like this one up to
// the end of the scripts. A plan decides more than the faults: how much time the scripts get, for
// how long the World goes on after them, and how patient the judges are. So what was judged with
// the plan is judged anew.
func (o *Outcome) OKWith(plan []fault.Fault) bool {
	s := o.Scenario
	s.Plan = plan
	switch {
	case o.Status() != linearizability.OK || o.CutShort || len(o.Result.Busy) > 0,
		o.Playing >= min(s.limit(), o.Scenario.limit()),
		s.settleTime() != o.Scenario.settleTime():
		return false
	}
	e := o.evidence(s.Script.lag())
	e.Plan, e.Reached = plan, slices.Clone(o.Reached)
	r, err := s.Workload.report(e)
	if err != nil {
		return false // the caller that plays it hears of the error
	}
	if !s.Workload.Deaf {
		judgePromptness(&r, o.History, plan)
	}
	return r.First().Status == linearizability.OK
}
