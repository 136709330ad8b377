package value

import (
	"encoding/json"
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// Register claims to be a register that holds one value and has no versions. Its calls are
// [ops.Read], [ops.Write] and [ops.CAS]. The Input of a CAS is made by [OldNew]; it compares
// values, while a CAS of a [Claims] compares versions. At first the register holds nothing.
type Register struct {
	// MaxSteps limits the search for an order of the calls; see [custom.Object]. A register whose
	// calls overlap for long needs more steps than most objects.
	MaxSteps int
}

// OldNew returns the Input of a CAS of a [Register]: the value that it expects, nil for none, and
// the value to set.
func OldNew(old *string, new string) string {
	text, err := json.Marshal([]*string{old, &new})
	if err != nil {
		panic(fmt.Sprintf("linearizability: marshal %q, %q: %v", *old, new, err))
	}
	return string(text)
}

// Properties implements [lin.Claims].
func (Register) Properties() []string {
	return []string{lin.Linearizability, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Register) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return custom.Object[model.Register, model.RegisterOp]{
		Noun: "register", Step: model.Register.Step, Show: showRegister, Effects: registerEffects,
		MaxSteps: claims.MaxSteps,
	}.Judge(h, left)
}

func showRegister(r model.Register) string {
	if !r.Full {
		return "nothing"
	}
	return r.Data
}

// registerEffects turns the history into operations on the model.
func registerEffects(h lin.History) []custom.Effect[model.RegisterOp] {
	var list []custom.Effect[model.RegisterOp]
	for n := range h.Ops {
		op := &h.Ops[n]
		e := custom.Effect[model.RegisterOp]{By: op}
		switch op.Kind {
		case ops.Read:
			e.Op.Data, e.Read = model.Register{Full: !op.Empty, Data: op.Output}, true
		case ops.Write:
			e.Op.Kind, e.Op.Data = model.Write, model.Register{Full: true, Data: op.Input}
		case ops.CAS:
			e.Op.Kind, e.Op.Refused = model.CAS, isRefused(*op)
			e.Op.Expect, e.Op.Data = oldNew(*op)
		default:
			continue
		}
		if !op.OK() {
			e.Op.Outcome = model.Maybe
		}
		if op.Outcome != lin.OpFailed && (op.OK() || !e.Read) {
			list = append(list, e)
		}
	}
	return list
}

// oldNew is the inverse of OldNew.
func oldNew(op lin.Op) (old, new model.Register) {
	var values []*string
	if err := json.Unmarshal([]byte(op.Input), &values); err != nil || len(values) != 2 ||
		values[1] == nil {
		panic(fmt.Sprintf(`linearizability: %s: the input of a cas is %q; `+
			`expected an old and a new value, as ["1","2"]`, judging.Describe(op), op.Input))
	}
	if values[0] != nil {
		old = model.Register{Full: true, Data: *values[0]}
	}
	return old, model.Register{Full: true, Data: *values[1]}
}
