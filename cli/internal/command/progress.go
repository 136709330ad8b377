package command

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// Progress is a line on a terminal that changes as the work goes on. It is shown after a second of
// work, or when a new phase of the work begins. It is cut off at the end of the row, as a terminal
// has no way back to the first of several rows.
type Progress struct {
	out     io.Writer  // nil without a terminal
	columns func() int // of the terminal, 0 if unknown
	start   time.Time  // of the work
	shown   time.Time  // time of the last change
	width   int        // of the line shown, in characters
}

// NewProgress is a line on a terminal with so many columns, 0 if that is unknown.
func NewProgress(out io.Writer, columns func() int) *Progress {
	return &Progress{out: out, columns: columns, start: time.Now()}
}

// progressOn is a line on stderr if that is a terminal, and else nowhere.
func progressOn(stderr io.Writer) *Progress {
	if f, ok := terminalOf(stderr); ok {
		return NewProgress(f, func() int { return columnsOf(f) })
	}
	return NewProgress(nil, nil)
}

// Show replaces the line, a few times a second at most.
func (p *Progress) Show(format string, args ...any) {
	now := time.Now()
	if now.Sub(p.start) >= time.Second && now.Sub(p.shown) >= 100*time.Millisecond {
		p.Phase(format, args...)
	}
}

// Phase replaces the line at once, since the new phase may take long without another call.
func (p *Progress) Phase(format string, args ...any) {
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

// Leave begins a new row below the line that another process has shown.
func (p *Progress) Leave() {
	if p.out != nil {
		fmt.Fprintln(p.out)
	}
}

// Clear removes the line. If the terminal has become narrower, the parts of the line on other rows
// remain.
func (p *Progress) Clear() {
	if p.out != nil && p.width > 0 {
		fmt.Fprint(p.out, "\r"+cut(fmt.Sprintf("%*s", p.width, ""), p.columns())+"\r")
		p.width = 0
	}
}
