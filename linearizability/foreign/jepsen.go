package foreign

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// Jepsen reads a history of Jepsen, as in history.edn: maps with :process, :type, :f, :value and
// perhaps :time and :error, one behind the other or in a vector. kind is one of [Kinds]. key
// chooses the object if there are many, each with a key, as jepsen.independent writes them; "" if
// there is one.
func Jepsen(r io.Reader, kind, key string) (linearizability.History, error) {
	b, err := newBuilder(kind, key)
	if err != nil {
		return linearizability.History{}, err
	}
	in := newEDNReader(r)
	in.skip(0)
	if c := in.peek(); c == '[' || c == '(' {
		in.read()
		return jepsenHistory(b, in, closing(c))
	}
	return jepsenHistory(b, in, 0)
}

// jepsenHistory reads maps up to the end of the vector that has them, or of the text if end is 0.
func jepsenHistory(b *builder, in *ednReader, end byte) (linearizability.History, error) {
	var now moment
	for {
		in.size = 0
		if in.skip(0); end != 0 && in.peek() == end && in.err == nil {
			return b.history(now)
		}
		v := in.form(1)
		if errors.Is(in.err, io.EOF) && end == 0 {
			return b.history(now)
		}
		if errors.Is(in.err, io.EOF) || errors.Is(in.err, io.ErrUnexpectedEOF) {
			in.err = errors.New("the history is cut off")
		}
		if in.err != nil {
			return b.h, fmt.Errorf("line %d: %w", in.line, in.err)
		}
		now.step++
		if err := b.jepsenEvent(&now, v); err != nil {
			return b.h, fmt.Errorf("line %d: %w", v.line, err)
		}
	}
}

// jepsenEvent adds one map to the history.
func (b *builder) jepsenEvent(now *moment, v datum) error {
	if v.fields == nil {
		return fmt.Errorf("%.40q; expected a map such as "+
			"{:process 0, :type :invoke, :f :read, :value nil}", v.text())
	}
	if t := v.get("time"); time.Duration(t.number) > now.time {
		now.time = time.Duration(t.number)
	}
	process := v.get("process")
	if strings.HasPrefix(process.word, ":") {
		return nil // a nemesis
	}
	if process.isNil() || process.isStr || process.word != fmt.Sprint(process.number) {
		return fmt.Errorf(":process: %s; expected a number, or :nemesis", shown(process))
	}
	client, subject := "p"+process.word, v.get("value")
	if b.key != "" {
		var of bool
		if subject, of = b.about(v); !of {
			return nil
		}
	} else if !v.get("key").isNil() {
		return fmt.Errorf(":key: %s; choose one key, by --key: each key is an object",
			v.get("key").text())
	}
	switch kind := v.get("type").name(); kind {
	case "invoke":
		return b.call(*now, client, v.get("f").name(), subject)
	case "ok":
		return b.end(*now, client, linearizability.OpOK, subject, "")
	case "fail":
		if isNotHeld(v) {
			return b.end(*now, client, linearizability.OpNotHeld, subject, why(v))
		}
		return b.end(*now, client, linearizability.OpFailed, subject, why(v))
	case "info":
		return b.end(*now, client, linearizability.OpUnknown, subject, why(v))
	default:
		return fmt.Errorf(":type: %s; expected :invoke, :ok, :fail or :info", shown(v.get("type")))
	}
}

// about returns the value of a map for the key of the builder, and whether it is about that key.
// The end of a call is about the key of its beginning.
func (b *builder) about(v datum) (datum, bool) {
	if key := v.get("key"); !key.isNil() {
		return v.get("value"), key.text() == b.key
	}
	return v.get("value").of(b.key)
}

// isNotHeld reports whether a release has failed because the client held nothing: its error is
// :not-held, or a vector that begins with it.
func isNotHeld(v datum) bool {
	switch v.get("f").name() {
	case "release", "unlock":
	default:
		return false
	}
	e := v.get("error")
	if len(e.list) > 0 {
		e = e.list[0]
	}
	return e.name() == "not-held"
}

// why is the text of an error.
func why(v datum) string {
	if e := v.get("error"); !e.isNil() {
		return e.text()
	}
	return v.get("type").name()
}

// shown is a value for an error.
func shown(v datum) string {
	if v.isNil() {
		return nilWord
	}
	return fmt.Sprintf("%.40s", v.text())
}
