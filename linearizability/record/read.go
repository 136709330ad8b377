package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zksim/zksim/linearizability"
)

// File is the content of a file. The steps of its History are line numbers.
type File struct {
	History linearizability.History
	// Began is the time of the clock at which the times of the History begin.
	Began time.Time
	// Clock names the clock. The clocks of files with the same name agree. "" if it is not known.
	Clock string
	// Complete says that the recording was closed. Otherwise the program goes on, or has been ended
	// while it recorded.
	Complete bool

	made  map[int]int64 // the zxids of the changes that operations have made; see Align
	lines []origin      // of the events, by their steps, if these are not their lines
}

// origin is the line of an event.
type origin struct {
	file string // "" if there is one file
	line int64
}

// Line names the line of the event of a step, if it is another number: after [Merge], with its
// file, and after [File.WithServer]. It is "" for a change at the server.
func (f File) Line(step int64) string {
	if step < 1 || step >= int64(len(f.lines)) {
		return ""
	}
	switch l := f.lines[step]; {
	case l.file != "":
		return fmt.Sprintf("%s:%d", l.file, l.line)
	case l.line != 0:
		return fmt.Sprintf("line %d", l.line)
	}
	return ""
}

// Load reads a file. An error names the file and the line.
func Load(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	file, err := Read(f)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

// Read reads a history that a Recorder, or another program, has written as a file or into a log in
// JSON. An error names the line and the field.
func Read(r io.Reader) (File, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	p := reader{open: map[int64]int{}}
	for lines.Scan() {
		p.line++
		line := lines.Bytes()
		if p.line == 1 && bytes.HasPrefix(line, []byte("\x1f\x8b")) {
			return File{}, errors.New("the file is compressed; unpack it with gunzip")
		}
		if p.line == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if err := p.read(line); err != nil {
			return File{}, p.at(err)
		}
	}
	if err := lines.Err(); err != nil {
		p.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is too long; expected at most %d bytes", maxLine-1)
		}
		return File{}, p.at(err)
	}
	if !p.begun {
		return File{}, fmt.Errorf("there is no history: expected a first line like %s", firstLine)
	}
	return p.file, nil
}

// byteOrderMark is written by some editors before the first line.
const byteOrderMark = "\ufeff"

const firstLine = `{"zksim":"history","version":1,"began":"2026-01-31T12:00:00Z"}`

// reader reads the lines of a file.
type reader struct {
	file  File
	line  int64
	begun bool
	inLog bool          // the lines are attributes of the lines of a log
	last  time.Duration // the time of the event before
	open  map[int64]int // index of the operations under way, by the number of the call
}

func (p *reader) at(err error) error { return fmt.Errorf("line %d: %w", p.line, err) }

// read reads one line.
func (p *reader) read(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if !utf8.Valid(line) {
		return errors.New("the line is not valid UTF-8")
	}
	f, err := parseFields(line)
	if err != nil {
		return err
	}
	if !p.begun || p.inLog {
		inner, logged, err := fromLog(f)
		switch {
		case err != nil:
			return err
		case logged:
			f, p.inLog = inner, true
		case p.inLog || f.has("msg"):
			return nil // another line of the log
		}
	}
	if !p.begun {
		p.begun = true
		return p.readHeader(f)
	}
	if err := p.readEvent(f); err != nil {
		return err
	}
	return f.unread()
}

// readHeader reads the first line.
func (p *reader) readHeader(f *fields) error {
	if format := f.text(attribute); f.err != nil || format != "history" {
		return fmt.Errorf("this is no history of zksim: expected a first line like %s", firstLine)
	}
	if v := f.number("version"); f.err == nil && v != version {
		return fmt.Errorf("version: %d; this zksim reads version %d", v, version)
	}
	p.file.Began, p.file.Clock = f.time("began"), f.optional("clock").text("clock")
	if f.optional("server"); f.flag("server") {
		p.file.History.Server = []linearizability.ServerEvent{}
	}
	return f.unread()
}

// readEvent reads another line.
func (p *reader) readEvent(f *fields) error {
	if p.file.Complete {
		return errors.New("a line after the end of the history; a file has one history")
	}
	if f.has(attribute) {
		return errors.New("a second history begins here; a file has one history")
	}
	kind := f.text("event")
	at := time.Duration(f.number("at"))
	if f.err == nil && at < p.last {
		return fmt.Errorf("at: %d; expected %d or more, as in the event before", at, int64(p.last))
	}
	p.last = at
	h := &p.file.History
	h.End, h.EndTime = p.line, at
	switch {
	case f.err != nil:
		return f.err
	case kind == eventCall:
		return p.readCall(f)
	case kind == eventReturn:
		return p.readReturn(f)
	case kind == eventNotice:
		return p.readNotice(f)
	case kind == eventChange:
		return p.readChange(f)
	case kind == eventEnd:
		p.file.Complete = true
		return nil
	}
	return fmt.Errorf("event: %q; expected call, return, notice, change or end", kind)
}

func (p *reader) readCall(f *fields) error {
	number := f.number("call")
	op := linearizability.Op{
		Client: f.name("client"), Kind: f.name("op"), Call: p.line, CallTime: p.last, Return: -1,
	}
	op.Input = f.optional("input").text("input")
	if _, twice := p.open[number]; f.err == nil && twice {
		return fmt.Errorf("call: %d has begun before", number)
	}
	p.open[number] = len(p.file.History.Ops)
	p.file.History.Ops = append(p.file.History.Ops, op)
	return f.err
}

func (p *reader) readReturn(f *fields) error {
	number := f.number("call")
	i, begun := p.open[number]
	if f.err == nil && !begun {
		return fmt.Errorf("call: %d has not begun", number)
	}
	outcome := oneOf(f, "outcome", outcomes)
	output, empty := f.optional("output").text("output"), f.optional("empty").flag("empty")
	token := f.optional("token").number("token")
	session, why := f.optional("session").session("session"), f.optional("error").text("error")
	if f.err != nil {
		return f.err
	}
	op := &p.file.History.Ops[i]
	if op.Outcome != linearizability.OpPending {
		return fmt.Errorf("call: %d has returned before", number)
	}
	if outcome == linearizability.OpNotHeld && !slices.Contains(releases, op.Kind) {
		return fmt.Errorf("outcome: \"not-held\" of %s; expected of %s only", op.Kind,
			strings.Join(releases, ", "))
	}
	op.Outcome, op.Return, op.ReturnTime = outcome, p.line, p.last
	op.Output, op.Empty, op.Token, op.Session, op.Err = output, empty, token, session, why
	return nil
}

func (p *reader) readNotice(f *fields) error {
	p.file.History.Notices = append(p.file.History.Notices, linearizability.Notice{
		Client: f.name("client"), Step: p.line, Time: p.last,
		Kind: oneOf(f, "notice", notices), Token: f.optional("token").number("token"),
	})
	return f.err
}

func (p *reader) readChange(f *fields) error {
	if p.file.History.Server == nil {
		return fmt.Errorf(`a change, but the first line has no field "server": true, ` +
			"which says that all changes of the object are there")
	}
	e := linearizability.ServerEvent{
		Step: p.line, Time: p.last, Kind: oneOf(f, "change", changes), Zxid: f.number("zxid"),
		Czxid:   f.optional("czxid").number("czxid"),
		Session: f.optional("session").session("session"),
		Owner:   f.optional("owner").session("owner"), Client: f.optional("client").text("client"),
		Notified: int(f.optional("notified").number("notified")),
	}
	switch e.Kind {
	case linearizability.SessionStarted, linearizability.SessionEnded:
	default:
		e.Path = f.name("path")
	}
	e.Data = f.optional("data").text("data")
	p.file.History.Server = append(p.file.History.Server, e)
	return f.err
}
