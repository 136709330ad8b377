package scenario

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zksim/zksim/fakezk/trace"
)

// dataTexts adds the data of znodes to the lines of a trace. The trace itself has none: data may
// hold the number of a process or the time of day.
type dataTexts struct {
	result   *trace.Result
	requests []trace.RequestPoint // those still to come
	changes  []trace.Change       // those still to come
	data     map[string][]dataOf  // of each znode, the oldest first
}

// dataOf is the data of a znode from a transaction on, as it is shown.
type dataOf struct {
	zxid int64
	text string
}

func newDataTexts(r *trace.Result) *dataTexts {
	return &dataTexts{
		result: r, requests: r.Requests, changes: r.Changes, data: map[string][]dataOf{},
	}
}

// add is the text of a line with the data that its request wrote or read. It takes the lines in
// order.
func (d *dataTexts) add(e trace.Entry) string {
	for len(d.requests) > 0 && d.requests[0].Step < e.Step {
		d.requests = d.requests[1:]
	}
	if len(d.requests) == 0 || d.requests[0].Step != e.Step {
		return e.Text
	}
	d.advance(e.Step)
	request := d.requests[0]
	if request.Op == "getData" {
		data := d.at(request.Path, zxidOf(e.Text))
		return strings.Replace(e.Text, ": ok,", ": ok"+data+",", 1)
	}
	words, outcome, applied := strings.Cut(e.Text, ": ok")
	if !applied {
		return e.Text
	}
	next := int64(d.result.Trace.Len()) + 1
	if len(d.requests) > 1 {
		next = d.requests[1].Step
	}
	for _, c := range d.advance(next - 1) {
		node := d.result.Trace.Rename(c.Path)
		data := d.at(c.Path, c.Zxid)
		part := " "
		if request.Op == multi && c.Kind == trace.DataChanged { // another part may only check it
			part = "setData "
		}
		shown := insertData(words, part+node, data)
		if shown == words { // the request has a sequential node without its number
			shown = insertData(words, part+strings.TrimRight(node, "0123456789"), data)
		}
		words = shown
	}
	return words + ": ok" + outcome
}

// advance notes the changes up to a step, and returns those that have written data.
func (d *dataTexts) advance(step int64) []trace.Change {
	var writes []trace.Change
	for len(d.changes) > 0 && d.changes[0].Step <= step {
		c := d.changes[0]
		d.changes = d.changes[1:]
		switch c.Kind {
		case trace.NodeCreated, trace.DataChanged:
			text := d.result.Trace.Rename(shortData(c.Data))
			d.data[c.Path] = append(d.data[c.Path], dataOf{c.Zxid, text})
			writes = append(writes, c)
		case trace.NodeDeleted:
			d.data[c.Path] = append(d.data[c.Path], dataOf{c.Zxid, ""})
		}
	}
	return writes
}

// at is the data of a znode on a server that has applied all transactions up to zxid: a follower
// may be behind.
func (d *dataTexts) at(path string, zxid int64) string {
	versions := d.data[path]
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].zxid <= zxid {
			return versions[i].text
		}
	}
	return ""
}

// zxidOf is the transaction that the line of a reply names.
func zxidOf(line string) (zxid int64) {
	_, number, found := strings.Cut(line, ": ok, zxid ")
	if _, err := fmt.Sscan(number, &zxid); !found || err != nil {
		return math.MaxInt64
	}
	return zxid
}

// insertData inserts data behind the first occurrence of a path, with what is done to it, in the
// text.
func insertData(text, path, data string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], path)
		if i < 0 {
			return text
		}
		from += i + len(path)
		if from == len(text) || text[from] == ',' || text[from] == ')' {
			return text[:from] + data + text[from:]
		}
	}
}

// shortData is data as text behind a space: quoted if it is short and can be read, else its size.
// It is "" without data.
func shortData(data []byte) string {
	const most = 32
	switch {
	case len(data) == 0:
		return ""
	case len(data) <= most && utf8.Valid(data) &&
		!strings.ContainsFunc(string(data), func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf(" %q", data)
	}
	return fmt.Sprintf(" (%d bytes)", len(data))
}
