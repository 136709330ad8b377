package trace

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"time"
)

// encodedLine is a line with what its arguments say.
type encodedLine struct {
	At         Moment
	Time       time.Duration
	Actor      string
	Words      string // before sessions and GUIDs are renamed
	Sent, Read []byte // see [Trace.ZnodeData]
	Call       int64  // see [Trace.Caller]; relative to origin, 0 if it is not known
}

// origin is a place in the code of this program. Another process of it may have all code elsewhere.
func origin() int64 { return int64(reflect.ValueOf(New).Pointer()) }

func (l encodedLine) String() string                 { return l.Words }
func (l encodedLine) ZnodeData() (sent, read []byte) { return l.Sent, l.Read }
func (l encodedLine) Caller() uintptr {
	if l.Call == 0 {
		return 0
	}
	return uintptr(l.Call + origin())
}

// GobEncode implements [gob.GobEncoder]: another process of the same program reads the trace.
func (t Trace) GobEncode() ([]byte, error) {
	lines := make([]encodedLine, len(t.lines))
	for i, l := range t.lines {
		lines[i] = encodedLine{At: l.At, Time: l.Time, Actor: l.Actor, Words: l.words()}
		lines[i].Sent, lines[i].Read = t.ZnodeData(int64(i + 1))
		if caller := t.Caller(int64(i + 1)); caller != 0 {
			lines[i].Call = int64(caller) - origin()
		}
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(lines)
	return b.Bytes(), err
}

// GobDecode implements [gob.GobDecoder].
func (t *Trace) GobDecode(text []byte) error {
	var encoded []encodedLine
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&encoded); err != nil {
		return err
	}
	lines := make([]Line, len(encoded))
	for i, l := range encoded {
		lines[i] = Line{At: l.At, Time: l.Time, Actor: l.Actor, Format: "%s", Args: []any{l}}
	}
	*t = New(lines)
	return nil
}

// encodedResult is a result with its messages.
type encodedResult struct {
	Result   *plainResult
	Messages []encodedMessage
}

// plainResult has no methods, and so the encoding of its fields.
type plainResult Result

type encodedMessage struct {
	Message       Message
	From, Arrived Moment
}

// GobEncode implements [gob.GobEncoder].
func (r *Result) GobEncode() ([]byte, error) {
	e := encodedResult{Result: (*plainResult)(r)}
	for _, m := range r.messages {
		e.Messages = append(e.Messages, encodedMessage{m.Message, m.from, m.arrived})
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(e)
	return b.Bytes(), err
}

// GobDecode implements [gob.GobDecoder].
func (r *Result) GobDecode(text []byte) error {
	var e encodedResult
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&e); err != nil {
		return err
	}
	*r = Result(*e.Result)
	for _, m := range e.Messages {
		r.messages = append(r.messages, pendingMessage{m.Message, m.From, m.Arrived})
	}
	return nil
}
