package linearizability

import "fmt"

// session prints a session id as the client does.
func session(id int64) string { return fmt.Sprintf("session 0x%x", id) }

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// describe prints an operation with its steps: "b's take (steps 4 to 9, unknown:
// connection closed)".
func describe(op Op) string {
	text := fmt.Sprintf("%s's %s (step %d", op.Client, op.Kind, op.Call)
	if !op.pending() {
		text = fmt.Sprintf("%s's %s (steps %d to %d", op.Client, op.Kind, op.Call, op.Return)
	}
	if op.Outcome != OpOK {
		text += ", " + op.Outcome.String()
	}
	if op.Err != "" {
		text += ": " + op.Err
	}
	return text + ")"
}
