package cli

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// progress shows one line that changes, on a terminal only, and only for what
// takes longer than a second, or has another phase before it. What does not fit on one
// row of the terminal is cut off: there is no way back to the first of several.
type progress struct {
	out     io.Writer  // nil when there is no terminal
	columns func() int // of the terminal, 0 if they are not known
	start   time.Time
	shown   time.Time
	width   int // of what is shown, in characters
}

func newProgress(stderr io.Writer) *progress {
	p := &progress{start: time.Now()}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = f
		p.columns = func() int {
			columns, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return columns
		}
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

// phase replaces the line at once: what begins now may go on for long without another word.
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

// cut shortens a line so that it fits into so many columns, of which the last is left
// to the cursor. Less than two are no number of columns.
func cut(line string, columns int) string {
	text := []rune(line)
	if columns < 2 || len(text) < columns {
		return line
	}
	return string(text[:columns-1])
}

// clear removes the line. If the terminal has become narrower, what it has put on other
// rows stays there.
func (p *progress) clear() {
	if p.out != nil && p.width > 0 {
		fmt.Fprint(p.out, "\r"+cut(fmt.Sprintf("%*s", p.width, ""), p.columns())+"\r")
		p.width = 0
	}
}
