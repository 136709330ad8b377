package judging

import (
	"fmt"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
)

// Session prints a session id as the client does.
func Session(id int64) string { return fmt.Sprintf("session 0x%x", id) }

// Count prints a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Listed prints at least two names: "a, b and c".
func Listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Describe prints an operation with its steps: "b's take (steps 4 to 9, unknown: connection
// closed)".
func Describe(op lin.Op) string {
	text := fmt.Sprintf("%s's %s (step %d", op.Client, op.Kind, op.Call)
	if !op.Pending() {
		text = fmt.Sprintf("%s's %s (steps %d to %d", op.Client, op.Kind, op.Call, op.Return)
	}
	if op.Outcome != lin.OpOK {
		text += ", " + op.Outcome.String()
	}
	if op.Err != "" {
		text += ": " + op.Err
	}
	return text + ")"
}

// CallText prints a call and its result: "add(1) -> 7".
func CallText(op lin.Op) string {
	text := fmt.Sprintf("%s(%s)", op.Kind, op.Input)
	switch {
	case !op.OK():
		return text + " (" + op.Outcome.String() + ")"
	case op.Empty:
		return text + " -> nothing"
	case op.Output != "":
		return text + " -> " + op.Output
	}
	return text
}
