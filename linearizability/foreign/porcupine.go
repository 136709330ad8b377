package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// Porcupine reads operations of porcupine that were written as JSON, in an array or one a line:
//
//	{"ClientId":0,"Input":{"op":"write","value":1},"Call":100,"Output":null,"Return":250}
//
// The input has op and value, the value of a cas is [old, new]. The output is the value that was
// read or taken, or null. An output {"unknown":true} says that the operation may have had an
// effect, and {"failed":true} that it had none. Call and Return are nanoseconds. kind and key are
// those of [Jepsen]; with a key, the input has key.
func Porcupine(r io.Reader, kind, key string) (linearizability.History, error) {
	b, err := newBuilder(kind, key)
	if err != nil {
		return linearizability.History{}, err
	}
	list, err := operations(r)
	if err != nil {
		return b.h, err
	}
	var events []operationEvent
	for i := range list {
		o := &list[i]
		about, err := o.about(key)
		if err != nil {
			return b.h, fmt.Errorf("operation %d: %w", i+1, err)
		}
		if about {
			events = append(events, operationEvent{i, o.Call, o, false},
				operationEvent{i, o.Return, o, true})
		}
	}
	// An operation that returns when another is called overlaps it.
	slices.SortStableFunc(events, func(a, b operationEvent) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(btoi(a.returns), btoi(b.returns)))
	})
	var now moment
	for n, e := range events {
		now = moment{int64(n) + 1, time.Duration(e.at - events[0].at)}
		if err := e.add(b, now); err != nil {
			return b.h, fmt.Errorf("operation %d: %w", e.number+1, err)
		}
	}
	return b.history(now)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// operation is a porcupine.Operation.
type operation struct {
	ClientID *int64          `json:"ClientId"`
	Input    operationInput  `json:"Input"`
	Call     int64           `json:"Call"`
	Output   json.RawMessage `json:"Output"`
	Return   int64           `json:"Return"`
	Metadata json.RawMessage `json:"Metadata"`

	value, output datum
	client        string
}

type operationInput struct {
	Op    string          `json:"op"`
	Key   json.RawMessage `json:"key"`
	Value json.RawMessage `json:"value"`
}

// operationEvent is the call or the return of an operation.
type operationEvent struct {
	number  int
	at      int64
	of      *operation
	returns bool
}

// operations reads an array of operations, or one behind the other.
func operations(r io.Reader) (list []operation, err error) {
	in := withoutMark(r)
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	inArray := startsArray(in)
	if inArray {
		_, err = d.Token()
	}
	for err == nil && (!inArray || d.More()) {
		var o operation
		if err = d.Decode(&o); err == nil {
			list = append(list, o)
		}
	}
	if inArray && err == nil {
		_, err = d.Token()
	} else if errors.Is(err, io.EOF) && !inArray {
		return list, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the history is cut off")
	}
	if err != nil {
		return nil, fmt.Errorf("operation %d: %w", len(list)+1, err)
	}
	return list, nil
}

// startsArray reports whether the first byte that is no blank begins an array.
func startsArray(in *bufio.Reader) bool {
	for n := 1; ; n++ {
		begin, err := in.Peek(n)
		if err != nil {
			return false
		}
		if c := begin[n-1]; !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) {
			return c == '['
		}
	}
}

// about checks an operation, and reports whether it is about a key; "" stands for the only one.
func (o *operation) about(key string) (bool, error) {
	own, err := jsonValue(o.Input.Key)
	if err != nil {
		return false, fmt.Errorf("field Input.key: %w", err)
	}
	switch {
	case o.ClientID == nil:
		return false, errors.New("field ClientId is missing")
	case o.Return < o.Call:
		return false, fmt.Errorf("field Return: %d, before Call: %d", o.Return, o.Call)
	case key == "" && !own.isNil():
		return false, fmt.Errorf("field Input.key: %s; choose one key, by --key: each key is an "+
			"object",
			own.text())
	}
	if o.value, err = jsonValue(o.Input.Value); err != nil {
		return false, fmt.Errorf("field Input.value: %w", err)
	}
	if o.output, err = jsonValue(o.Output); err != nil {
		return false, fmt.Errorf("field Output: %w", err)
	}
	return key == own.text(), nil
}

// add adds the event to a history.
func (e operationEvent) add(b *builder, now moment) error {
	o := e.of
	if !e.returns {
		o.client = b.free(fmt.Sprintf("p%d", *o.ClientID))
		return b.call(now, o.client, o.Input.Op, o.value)
	}
	outcome := linearizability.OpOK
	switch {
	case o.output.get("unknown").word == "true":
		outcome = linearizability.OpUnknown
	case o.output.get("failed").word == "true":
		outcome = linearizability.OpFailed
	}
	text := ""
	if outcome != linearizability.OpOK {
		text = outcome.String()
	}
	return b.end(now, o.client, outcome, o.output, text)
}

// free is a name of a client without a call under way: operations of one client may touch.
func (b *builder) free(client string) string {
	name := client
	for n := 2; ; n++ {
		if _, busy := b.open[name]; !busy {
			return name
		}
		name = fmt.Sprintf("%s.%d", client, n)
	}
}

// jsonValue turns JSON into a value.
func jsonValue(raw json.RawMessage) (datum, error) {
	if len(raw) == 0 {
		return datum{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return datum{}, err
	}
	return valueOf(v), nil
}

func valueOf(v any) datum {
	switch v := v.(type) {
	case nil:
		return datum{word: nilWord}
	case bool:
		return datum{word: strconv.FormatBool(v)}
	case json.Number:
		n, _ := v.Int64()
		return datum{word: v.String(), number: n}
	case string:
		return datum{word: strconv.Quote(v), str: v, isStr: true}
	case []any:
		list := []datum{}
		for _, e := range v {
			list = append(list, valueOf(e))
		}
		return datum{list: list}
	}
	fields := []field{}
	for key, e := range v.(map[string]any) {
		fields = append(fields, field{key, valueOf(e)})
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.key, b.key) })
	return datum{fields: fields}
}
