package trace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Trace is the record of a run as canonical text: the same seed and plan give the same lines. Lines
// are numbered from 1, and a line's number is the "step" that histories and verdicts speak of.
// Sessions and GUIDs are renamed S1, S2, G1, G2, in order of first appearance.
type Trace struct {
	lines []Line
	texts *texts
}

// A Line is one line of a Trace. It is formatted only when the trace is read, and a hunt reads few
// traces. So its arguments must not change.
type Line struct {
	At     Moment
	Time   time.Duration
	Actor  string
	Format string
	Args   []any
}

// words are the text of the line before sessions and GUIDs are renamed.
func (l Line) words() string { return fmt.Sprintf(l.Format, l.Args...) }

// MomentBehind is the moment of a line that is added to a finished record. lines is the number of
// the lines before it, and n counts the lines added there, from 0.
func MomentBehind(lines, n int) Moment {
	return NewMoment(int64(lines), 1+n>>nthBits, n&(1<<nthBits-1))
}

// New puts lines into their canonical order, in place.
func New(lines []Line) Trace {
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.At, b.At) })
	return Trace{lines: lines, texts: &texts{names: map[string]string{}, count: map[byte]int{}}}
}

// Len is the number of lines.
func (t Trace) Len() int { return len(t.lines) }

// An Entry is a line of a trace in its parts.
type Entry struct {
	// Step is the line's number.
	Step int64
	// Time is virtual, since the World began.
	Time time.Duration
	// Actor is a client, "server" or "fault".
	Actor string
	// Text describes the event. Messages from a client begin with "->", messages to it with "<-".
	Text string
}

// String is the line.
func (e Entry) String() string { return string(e.appendTo(nil)) }

// appendTo appends the line: "%5d %12.6fs  %-8s %s" of its parts. Package fmt takes three times as
// long, and a hunt has many lines.
func (e Entry) appendTo(b []byte) []byte {
	var number [32]byte
	step := strconv.AppendInt(number[:0], e.Step, 10)
	b = append(pad(b, 5-len(step)), step...)
	b = append(b, ' ')
	seconds := strconv.AppendFloat(number[:0], e.Time.Seconds(), 'f', 6, 64)
	b = append(pad(b, 12-len(seconds)), seconds...)
	b = append(b, "s  "...)
	b = append(b, e.Actor...)
	b = pad(b, 8-utf8.RuneCountInString(e.Actor))
	b = append(b, ' ')
	return append(b, e.Text...)
}

// pad appends spaces.
func pad(b []byte, n int) []byte {
	for range n {
		b = append(b, ' ')
	}
	return b
}

// Entry is line number n, from 1, in its parts; an empty one if there is no such line.
func (t Trace) Entry(n int64) Entry {
	if n < 1 || n > int64(len(t.lines)) {
		return Entry{Step: n}
	}
	l := t.lines[n-1]
	return Entry{n, l.Time, l.Actor, t.texts.all(t.lines)[n-1]}
}

// ZnodeData is the data of a znode that the request of line number n carried, even in vain, and
// that its answer carried. They are no part of the text: data may hold the time of day.
func (t Trace) ZnodeData(n int64) (sent, read []byte) {
	if n < 1 || n > int64(len(t.lines)) {
		return nil, nil
	}
	for _, arg := range t.lines[n-1].Args {
		if request, ok := arg.(interface{ ZnodeData() (sent, read []byte) }); ok {
			return request.ZnodeData()
		}
	}
	return nil, nil
}

// A Called is an argument of a line that tells of a call. Caller is the program counter of that
// call, 0 if it is not known. The value must not change.
type Called interface {
	fmt.Stringer
	Caller() uintptr
}

// Formatted is the text of a line whose arguments may change later; a single [Called] is kept.
func Formatted(format string, args []any) any {
	if len(args) == 1 {
		if call, ok := args[0].(Called); ok && format == "%s" {
			return call
		}
	}
	return fmt.Sprintf(format, args...)
}

// Caller is that of the call of which line number n tells; 0 if it tells of none.
func (t Trace) Caller(n int64) uintptr {
	if n < 1 || n > int64(len(t.lines)) {
		return 0
	}
	for _, arg := range t.lines[n-1].Args {
		if call, ok := arg.(Called); ok {
			return call.Caller()
		}
	}
	return 0
}

// Head is when line number n, from 1, was written, and its actor. Unlike Entry it formats no line.
func (t Trace) Head(n int64) (at time.Duration, actor string) {
	if n < 1 || n > int64(len(t.lines)) {
		return 0, ""
	}
	return t.lines[n-1].Time, t.lines[n-1].Actor
}

// Line is line number n, from 1.
func (t Trace) Line(n int64) string { return t.Entry(n).String() }

// String is the whole trace.
func (t Trace) String() string { return t.Range(1, int64(t.Len())) }

// Range is the text of the lines from first to last, as far as they exist.
func (t Trace) Range(first, last int64) string {
	return string(t.appendLines(nil, first, last))
}

func (t Trace) appendLines(b []byte, first, last int64) []byte {
	for n := max(first, 1); n <= min(last, int64(t.Len())); n++ {
		b = append(t.Entry(n).appendTo(b), '\n')
	}
	return b
}

// Hash is the SHA-256 of String, in hexadecimal.
func (t Trace) Hash() string {
	sum := sha256.Sum256(t.appendLines(nil, 1, int64(t.Len())))
	return hex.EncodeToString(sum[:])
}

// Equal reports whether String is the same for both. It is much quicker than that.
func (t Trace) Equal(other Trace) bool {
	if t.Len() != other.Len() {
		return false
	}
	for n := int64(1); n <= int64(t.Len()); n++ {
		a, b := t.Entry(n), other.Entry(n)
		if a != b && a.String() != b.String() { // a line leaves out the nanoseconds
			return false
		}
	}
	return true
}

// Rename replaces session ids and GUIDs in a text by their names in the trace.
func (t Trace) Rename(text string) string {
	if t.texts == nil {
		return text
	}
	t.texts.all(t.lines)
	return t.texts.rename(text)
}

// A Moment is a point of a World's history, taken while it runs. Moments order events: by step,
// then, within a step, by a fixed rank of the actor, then in the actor's own order; they do not
// depend on which goroutine came first. Result.Step turns a Moment into a trace line number
// afterwards.
type Moment int64

// AfterEnd is the Moment of everything that happens once the World is at rest and only its clients
// are being closed. The trace does not have it.
const AfterEnd Moment = 1<<63 - 1

const (
	nthBits  = 16 // lines of one actor in one step
	rankBits = 16 // actors: 0 is the World, then each client's sources
)

// NewMoment is the moment of the nth line, from 0, of an actor in a step.
func NewMoment(step int64, rank, nth int) Moment {
	return Moment(step<<(rankBits+nthBits) | int64(rank)<<nthBits | int64(nth))
}

// Nth is the number of lines of the same actor in the same step before m.
func (m Moment) Nth() int { return int(m & (1<<nthBits - 1)) }

// find is the number of the line written at m; for AfterEnd it is one more than the last.
func (t Trace) find(m Moment) int64 {
	i, _ := slices.BinarySearchFunc(t.lines, m, func(l Line, m Moment) int {
		return cmp.Compare(l.At, m)
	})
	return int64(i) + 1
}

// texts are a trace's lines in words, with session ids and GUIDs replaced by
// short names in order of appearance.
type texts struct {
	once  sync.Once
	texts []string

	mu    sync.Mutex
	names map[string]string
	count map[byte]int
}

// all puts the lines into words, once.
func (t *texts) all(lines []Line) []string {
	t.once.Do(func() {
		t.texts = make([]string, len(lines))
		for i, l := range lines {
			t.texts[i] = t.rename(l.words())
		}
	})
	return t.texts
}

// Renamable matches the parts that are renamed. A GUID is 32 hexadecimal digits, or 36 characters
// with dashes; a session is written 0x and hexadecimal digits, at least 12 of them.
var Renamable = regexp.MustCompile(`0x[0-9a-f]{12,16}|` +
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}`)

// renamable is the length of what Renamable matches at the beginning of a text; 0 if it does not.
// It is much quicker than Renamable, and a proof puts many traces into words.
func renamable(s string) int {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		if n := hexDigits(digits, 16); n >= 12 {
			return len("0x") + n
		}
	}
	n := hexDigits(s, 32)
	if n != 8 {
		return n / 32 * 32
	}
	for _, more := range []int{4, 4, 4, 12} {
		if n == len(s) || s[n] != '-' || hexDigits(s[n+1:], more) < more {
			return 0
		}
		n += 1 + more
	}
	return n
}

// hexDigits is the number of hexadecimal digits at the beginning of a text, up to most.
func hexDigits(s string, most int) (n int) {
	for n < min(most, len(s)) && ('0' <= s[n] && s[n] <= '9' || 'a' <= s[n] && s[n] <= 'f') {
		n++
	}
	return n
}

func (t *texts) rename(s string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		if n := renamable(s[i:]); n > 0 {
			b.WriteString(s[from:i])
			b.WriteString(t.name(s[i : i+n]))
			from, i = i+n, i+n-1
		}
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// name is the short name of a session id, with or without leading zeros, or of a GUID.
func (t *texts) name(id string) string {
	kind, key := byte('G'), id
	if digits, session := strings.CutPrefix(id, "0x"); session {
		kind, key = 'S', strings.TrimLeft(digits, "0")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	name, ok := t.names[key]
	if !ok {
		t.count[kind]++
		name = fmt.Sprintf("%c%d", kind, t.count[kind])
		t.names[key] = name
	}
	return name
}
