package command

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// styled writes text to a terminal: it wraps long lines between words, and colours verdicts and
// faults. It keeps the beginning of a line until the line ends or is flushed.
type styled struct {
	to      io.Writer
	columns func() int // of the terminal, 0 if unknown
	colours bool
	begun   []byte
}

// style returns a writer for text to out, whose output goes to file. If file is no terminal, it
// returns out.
func style(out, file io.Writer) io.Writer {
	f, ok := terminalOf(file)
	if !ok {
		return out
	}
	return &styled{
		to: out, columns: func() int { return columnsOf(f) },
		colours: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// terminalOf is the terminal to which w writes, if it is one.
func terminalOf(w io.Writer) (f *os.File, ok bool) {
	if f, ok = w.(*os.File); ok {
		_, ok = terminal(f)
	}
	return f, ok
}

// columnsOf is the width of a terminal, 0 if it is unknown.
func columnsOf(f *os.File) int {
	columns, _ := terminal(f)
	return columns
}

func (s *styled) Write(p []byte) (int, error) {
	s.begun = append(s.begun, p...)
	for {
		line, rest, ended := bytes.Cut(s.begun, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		text := s.line(string(line)) + "\n"
		s.begun = append([]byte{}, rest...)
		if _, err := io.WriteString(s.to, text); err != nil {
			return 0, err
		}
	}
}

// Flush writes a line that has not ended.
func (s *styled) Flush() error {
	begun := s.begun
	s.begun = nil
	_, err := s.to.Write(begun)
	return err
}

// line is a line in the form that the terminal shows.
func (s *styled) line(text string) string {
	lines := []string{text}
	if !verbatim.MatchString(text) {
		lines = wrap(text, s.columns())
	}
	if s.colours {
		for i, line := range lines {
			lines[i] = coloured(line)
		}
	}
	return strings.Join(lines, "\n")
}

var (
	// verbatim matches lines that are there to be copied: commands, and the YAML of a scenario.
	verbatim = regexp.MustCompile(`^(to see it again|to compare the traces): |^ +(- |[a-z]+: )`)
	// margin matches the part of a line of a trace, or of a verdict, before its text.
	margin = regexp.MustCompile(`^ *(\d+ +\d+\.\d{6}s  \S+ +|\S+ +(ok|violated|unknown) +)?`)
)

// narrowest is the least number of columns for which lines are wrapped.
const narrowest = 40

// wrap breaks a line between words so that its parts fit into columns. The parts after the first
// stand below the text of the first.
func wrap(line string, columns int) []string {
	if columns < narrowest || utf8.RuneCountInString(line) <= columns {
		return []string{line}
	}
	first := margin.FindString(line)
	indent := strings.Repeat(" ", min(utf8.RuneCountInString(first), columns/2))
	lines, part := []string{}, first
	for i, word := range strings.Split(line[len(first):], " ") {
		longer := part + " " + word
		if i == 0 {
			longer = part + word
		}
		if i > 0 && utf8.RuneCountInString(longer) > columns {
			lines, longer = append(lines, part), indent+word
		}
		part = longer
	}
	return append(lines, part)
}

// Colours of a terminal, as it names them.
const (
	red    = "\x1b[1;31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// colourings are the parts of a line that have a colour: the match of an expression, or its group.
var colourings = []struct {
	part   *regexp.Regexp
	colour string
}{
	{regexp.MustCompile(`^\S+ is violated\b|NOT AS EXPECTED|NEVER REACHED|NEVER CALLED`), red},
	{regexp.MustCompile(`^[^ ].*(: ok|: \S+ is violated, as expected)$`), green},
	{regexp.MustCompile(`^ *\d+ +\d+\.\d{6}s  fault .*|^  fault: .*`), yellow},
	{regexp.MustCompile(`^  \S+ +violated\b`), red},
	{regexp.MustCompile(`^  \S+ +ok\b`), green},
	{regexp.MustCompile(`^  \S+ +unknown\b`), yellow},
}

// coloured is a line with its parts in colour.
func coloured(line string) string {
	for _, p := range colourings {
		if at := p.part.FindStringSubmatchIndex(line); at != nil {
			at = at[len(at)-2:]
			return line[:at[0]] + p.colour + line[at[0]:at[1]] + plain + line[at[1]:]
		}
	}
	return line
}
