package cli

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// progress is a line on a terminal that changes as the work goes on. It is shown after a second of
// work, or when a new phase of the work begins. It is cut off at the end of the row, as a terminal
// has no way back to the first of several rows.
type progress struct {
	out     io.Writer  // nil without a terminal
	columns func() int // of the terminal, 0 if unknown
	start   time.Time  // of the work
	shown   time.Time  // time of the last change
	width   int        // of the line shown, in characters
}

func newProgress(stderr io.Writer) *progress {
	p := &progress{start: time.Now()}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = f
		p.columns = func() int { return columnsOf(f) }
	}
	return p
}

// show replaces the line, a few times a second at most.
func (p *progress) show(format string, args ...any) {
	now := time.Now()
	if now.Sub(p.start) >= time.Second && now.Sub(p.shown) >= 100*time.Millisecond {
		p.phase(format, args...)
	}
}

// phase replaces the line at once, since the new phase may take long without another call.
func (p *progress) phase(format string, args ...any) {
	if p.out == nil {
		return
	}
	p.shown = time.Now()
	columns := p.columns()
	line := cut(fmt.Sprintf(format, args...), columns)
	fmt.Fprint(p.out, "\r"+cut(fmt.Sprintf("%-*s", p.width, line), columns))
	p.width = utf8.RuneCountInString(line)
}

// cut shortens a line so that it fits into a row of the terminal and leaves the last column to the
// cursor. A number of columns below two means that it is unknown.
func cut(line string, columns int) string {
	text := []rune(line)
	if columns < 2 || len(text) < columns {
		return line
	}
	return string(text[:columns-1])
}

// leave begins a new row below the line that another process has shown.
func (p *progress) leave() {
	if p.out != nil {
		fmt.Fprintln(p.out)
	}
}

// clear removes the line. If the terminal has become narrower, the parts of the line on other rows
// remain.
func (p *progress) clear() {
	if p.out != nil && p.width > 0 {
		fmt.Fprint(p.out, "\r"+cut(fmt.Sprintf("%*s", p.width, ""), p.columns())+"\r")
		p.width = 0
	}
}
