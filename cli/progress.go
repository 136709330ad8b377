package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows one line that changes, on a terminal only, and only for what
// takes longer than a second.
type progress struct {
	out   io.Writer // nil when there is no terminal
	start time.Time
	shown time.Time
	width int
}

func newProgress(stderr io.Writer) *progress {
	p := &progress{start: time.Now()}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.out = f
	}
	return p
}

// show replaces the line, a few times a second at most.
func (p *progress) show(format string, args ...any) {
	now := time.Now()
	if p.out == nil || now.Sub(p.start) < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	line := fmt.Sprintf(format, args...)
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// clear removes the line.
func (p *progress) clear() {
	if p.out != nil && p.width > 0 {
		fmt.Fprintf(p.out, "\r%*s\r", p.width, "")
		p.width = 0
	}
}
