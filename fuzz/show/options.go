package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/saved"
)

// View selects the output about a run: by default the story and the verdicts.
type View struct {
	File   string // the name of the scenario file, "" if there is none
	Repeat string // the command that repeats the run, for a picture and JSON
	Line   bool   // only whether the run is as expected
	Trace  bool   // the whole trace, and the verdicts
	Until  int64  // the trace up to a line and the world as it was then; 0 for none
	Step   bool   // a walk, which begins at Until
	JSON   bool
	HTML   string // the file of a picture besides, "" for none
}

// Show writes the output that a view selects to out. A walk reads its commands from in.
func (v View) Show(ctx context.Context, r *saved.Replay, in io.Reader, out io.Writer) error {
	if last := int64(r.Outcome.Result.Trace.Len()); v.Until > last {
		return fmt.Errorf("the trace has %d lines, there is no line %d", last, v.Until)
	}
	if v.HTML != "" {
		if err := picture.Save(v.HTML, r.Outcome, v.Repeat); err != nil {
			return fmt.Errorf("draw the run: %w", err)
		}
	}
	switch {
	case v.Step:
		return v.walk(ctx, r, in, out)
	case v.JSON:
		return WriteJSON(out, v.replayed(r))
	default:
		_, err := io.WriteString(out, v.text(r))
		return err
	}
}

// text is a view that is neither a walk nor JSON.
func (v View) text(r *saved.Replay) string {
	switch o := r.Outcome; {
	case v.Until > 0:
		return o.Result.Trace.Range(1, v.Until) + "\n" + worldAt(o, v.Until).String() + "\n" +
			v.line(r)
	case v.Line:
		return v.line(r)
	case v.Trace:
		return fmt.Sprintf("%s\n%s\n", o.Result.Trace, o.Status()) + v.verdicts(r)
	default:
		return o.Story() + v.verdicts(r)
	}
}

// walk is a walk through a run, with the differences from the expected run before it and at its
// end.
func (v View) walk(ctx context.Context, r *saved.Replay, in io.Reader, out io.Writer) error {
	if len(r.Problems) > 0 {
		fmt.Fprintf(out, "%s\n", v.line(r))
	}
	err := walk(ctx, r.Outcome, max(v.Until, 1), in, out)
	fmt.Fprint(out, v.line(r))
	return err
}

// verdicts are the verdicts on a run and its measurements.
func (v View) verdicts(r *saved.Replay) string {
	var b strings.Builder
	b.WriteString("\nverdicts:\n")
	for _, verdict := range r.Outcome.Verdicts() {
		fmt.Fprintf(&b, "  %s\n", verdict)
	}
	for _, m := range r.Outcome.Measurements() {
		fmt.Fprintf(&b, "  %s\n", m)
	}
	return b.String() + "\n" + v.line(r)
}

// line is a line that says whether a run is as expected, or one for each difference.
func (v View) line(r *saved.Replay) string {
	if v.File == "" {
		return ""
	}
	if len(r.Problems) == 0 {
		text := "ok"
		if p := r.Outcome.Property(); p != "" {
			text = p + " is violated, as expected"
		}
		return fmt.Sprintf("%s: %s\n", v.File, text)
	}
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s: NOT AS EXPECTED: %s\n", v.File, p)
	}
	return b.String()
}

// WriteJSON writes a value for programs.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
