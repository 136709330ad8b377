package check

import (
	"fmt"
	"regexp"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// syntax is the form of the input, or the output, of an operation of a kind. A judge reads a text
// of another form as another value, or ignores the call.
type syntax struct {
	op     string
	output bool
	form   *regexp.Regexp
	wants  string
}

// syntaxes are the forms by the names of the kinds.
var syntaxes = map[string][]syntax{
	"rwlock": {
		{ops.Lock, false, modeForm, `"read" or "write"`},
		{ops.Unlock, false, modeForm, `"read" or "write"`},
	},
	"priority-queue": {{ops.Offer, false, regexp.MustCompile(`#-?\d+$`),
		`element and priority, as "x#3"`}},
	"delay-queue": {{ops.Offer, false, regexp.MustCompile(`@-?[\d.]+([mnuµ]s|[smh])`),
		`element and due time, as "x@1.5s"`}},
	"id-queue": {{ops.Offer, false, regexp.MustCompile(`#`), `element and id, as "x#7"`}},
	"counter": {
		{ops.Add, false, numberForm, `a number, as "1"`},
		{ops.Add, true, regexp.MustCompile(`^(-?\d+)?$`), `a number, as "1", or nothing`},
		{ops.Get, true, numberForm, `a number, as "1"`},
	},
	"register": {{ops.CAS, false, regexp.MustCompile(`^\["|^\[null,`),
		`an old and a new value, as "[\"1\",\"2\"]"`}},
	"id-generator": {{ops.Next, true, numberForm, `a number, as "1"`}},
	"barrier": {{ops.IsSet, true, regexp.MustCompile(`^(true|false)$`),
		`"true" or "false"`}},
	"double-barrier":    {{ops.Enter, false, membersForm, `the number of members, as "2"`}},
	"threshold-barrier": {{ops.Set, false, membersForm, `the number of members, as "2"`}},
	"two-phase-commit": {
		{ops.Begin, false, regexp.MustCompile(`^\S+ \S+ \S+$`),
			`transaction, sites and deadline, as "t1 a,b 0s"`},
		{ops.Vote, false, regexp.MustCompile(`^\S+ \S+ (yes|no)$`),
			`transaction, site and vote, as "t1 a yes"`},
	},
	"cache": {
		{ops.Look, true, regexp.MustCompile(`^\{`), "a look, as its method String writes it"},
		{ops.Settle, true, regexp.MustCompile(`^\{`), "a look, as its method String writes it"},
	},
}

var (
	modeForm    = regexp.MustCompile(`^(read|write)$`)
	numberForm  = regexp.MustCompile(`^-?\d{1,18}$`)
	membersForm = regexp.MustCompile(`^\d{1,9}$`)
)

// checkSyntax returns an error if the input or output of a call does not have the form of its kind.
func (k kind) checkSyntax(op linearizability.Op) error {
	for _, s := range syntaxes[k.name] {
		text, field, line := op.Input, "input", op.Call
		if s.output {
			text, field, line = op.Output, "output", op.Return
		}
		if s.op != op.Kind || s.output && op.Outcome != linearizability.OpOK ||
			s.form.MatchString(text) {
			continue
		}
		return fmt.Errorf("line %d: %s of %s: %.40q; expected %s", line, field, op.Kind, text,
			s.wants)
	}
	return nil
}
