package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/zksim/zksim/fuzz/show"
)

// json prints a value for programs.
func (a *app) json(v any) error {
	a.progress.clear()
	return show.WriteJSON(a.raw, v)
}

// printf prints text for people.
func (a *app) printf(format string, args ...any) {
	a.progress.clear()
	fmt.Fprintf(a.out, format, args...)
}

// indent moves each line of a text to the right.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// plural is "1 fault" or "2 faults".
func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstError is a writer that keeps its first error, so that commands need not check each line of
// their output.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}
