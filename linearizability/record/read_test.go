package record

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

const begin = `{"zksim":"history","version":1,"began":"2026-01-31T12:00:00Z"}` + "\n"

const aCalls = `{"event":"call","at":5,"call":1,"client":"a","op":"lock"}` + "\n"

// TestAByteOrderMarkIsLeftOut: only before the first line.
func TestAByteOrderMarkIsLeftOut(t *testing.T) {
	file, err := Read(strings.NewReader("\ufeff" + begin + aCalls))
	check.OK(t, err)
	check.Equal(t, len(file.History.Ops), 1)
	if _, err := Read(strings.NewReader(begin + "\ufeff" + aCalls)); err == nil {
		t.Error("no error for a mark in the second line")
	}
}

func TestErrorsNameLineAndField(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "there is no history: expected a first line like {"},
		{"another file", "a: b\n", "line 1: invalid character 'a'"},
		{"a list", "[1]\n", `line 1: "[1]"; expected a JSON object`},
		{"another object", `{"a":1}` + "\n", "line 1: this is no history of zksim"},
		{"another format", `{"zksim":"scenario"}`, "line 1: this is no history of zksim"},
		{"another version", `{"zksim":"history","version":2}`,
			"line 1: version: 2; this zksim reads version 1"},
		{"no version", `{"zksim":"history"}`, "line 1: version: the field is missing"},
		{"no time", `{"zksim":"history","version":1}`, "line 1: began: the field is missing"},
		{"a wrong time", `{"zksim":"history","version":1,"began":"noon"}`,
			`line 1: began: "noon"; expected a time such as`},
		{"an unknown field of the head", strings.Replace(begin, "}", `,"end":1}`, 1),
			"line 1: end: unknown field"},
		{"an unknown field", begin + strings.Replace(aCalls, "}", `,"Client":"b"}`, 1),
			"line 2: Client: unknown field"},
		{"a field twice", begin + strings.Replace(aCalls, "}", `,"client":"b"}`, 1),
			"line 2: client: the field is there twice"},
		{"two objects", begin + strings.Replace(aCalls, "}", `} {}`, 1),
			"line 2: there is more than one object on the line"},
		{"half a line", begin + aCalls[:20], "line 2: at: the line is cut off"},
		{"not UTF-8", begin + "\xff", "line 2: the line is not valid UTF-8"},
		{"no client", begin + `{"event":"call","at":5,"call":1,"op":"lock"}`,
			"line 2: client: the field is missing"},
		{"an empty client", begin + `{"event":"call","at":5,"call":1,"client":"","op":"lock"}`,
			`line 2: client: ""; expected a name`},
		{"a number as the client",
			begin + `{"event":"call","at":5,"call":1,"client":7,"op":"lock"}`,
			`line 2: client: 7; expected a string`},
		{"a null", begin + strings.Replace(aCalls, "}", `,"input":null}`, 1),
			"line 2: input: null; expected a string"},
		{"wrong base64", begin + strings.Replace(aCalls, "}", `,"input":{"base64":"?"}}`, 1),
			"line 2: input: illegal base64 data"},
		{"more than base64", begin + strings.Replace(aCalls, "}",
			`,"input":{"base64":"","a":1}}`, 1),
			"line 2: input: a: unknown field"},
		{"half a nanosecond", begin + strings.Replace(aCalls, "5", "5.5", 1),
			"line 2: at: 5.5; expected a whole number, 0 or more"},
		{"a time before the beginning", begin + strings.Replace(aCalls, "5", "-5", 1),
			"line 2: at: -5; expected a whole number, 0 or more"},
		{"time goes back", begin + aCalls + `{"event":"end","at":4}`,
			"line 3: at: 4; expected 5 or more, as in the event before"},
		{"a call twice", begin + aCalls + aCalls, "line 3: call: 1 has begun before"},
		{"a return without a call", begin + `{"event":"return","at":5,"call":1,"outcome":"ok"}`,
			"line 2: call: 1 has not begun"},
		{"a return twice", begin + aCalls + strings.Repeat(
			`{"event":"return","at":5,"call":1,"outcome":"ok"}`+"\n", 2),
			"line 4: call: 1 has returned before"},
		{"an unknown outcome",
			begin + aCalls + `{"event":"return","at":5,"call":1,"outcome":"fine"}`,
			`line 3: outcome: "fine"; expected ok, failed, unknown, not-held`},
		{"a session as a number",
			begin + aCalls + `{"event":"return","at":5,"call":1,"outcome":"ok","session":17}`,
			`line 3: session: 17; expected a string such as "0x1000a3f5e2b0001"`},
		{"an unknown notice", begin + `{"event":"notice","at":5,"client":"a","notice":"bad"}`,
			`line 2: notice: "bad"; expected disconnected, connected, session-expired, lock-lost, paused, resumed, unanswered, died`},
		{"an unknown event", begin + `{"event":"noise","at":5}`,
			`line 2: event: "noise"; expected call, return, notice, change or end`},
		{"a change without the server",
			begin + `{"event":"change","at":5,"change":"node-created","path":"/a","zxid":1}`,
			`line 2: a change, but the first line has no field "server": true`},
		{"a change without a path", strings.Replace(begin, "}", `,"server":true}`, 1) +
			`{"event":"change","at":5,"change":"node-created","zxid":1}`,
			"line 2: path: the field is missing"},
		{"a line after the end", begin + `{"event":"end","at":5}` + "\n" + aCalls,
			"line 3: a line after the end of the history"},
		{"a second history", begin + aCalls + begin, "line 3: a second history begins here"},
		{"a line that is too long", begin + strings.Repeat(" ", maxLine) + "\n",
			"line 2: the line is too long; expected at most 1048575 bytes"},
		{"half an attribute", `{"msg":"a","zksim":{"zksim":"history","version":3}}`,
			"line 1: version: 3; this zksim reads version 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(c.file)); err == nil {
				t.Errorf("got no error; want %q", c.want)
			} else {
				check.Contains(t, err.Error(), c.want)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h.jsonl")
	check.OK(t, os.WriteFile(name, []byte(begin+"{}\n"), 0o666))
	_, err := Load(name)
	check.Equal(t, err.Error(), name+": line 2: event: the field is missing")
	_, err = Load(name + "?")
	check.Is(t, err, os.ErrNotExist)
}

// TestThePageShowsTheFormat: docs/histories.md shows a file that can be read, and names each field.
func TestThePageShowsTheFormat(t *testing.T) {
	page := testrun.ReadFile(t, "../../docs/histories.md")
	_, shown, _ := strings.Cut(page, "```json\n")
	shown, _, _ = strings.Cut(shown, "```")
	file, err := Read(strings.NewReader(shown))
	check.OK(t, err)
	check.Equal(t, len(file.History.Ops), 2)
	for _, v := range []any{header{}, event{}} {
		for f := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(f).Tag.Get("json"), ",")
			check.Contains(t, page, "`"+name+"`")
		}
	}
}

// FuzzRead: no file makes Read panic, and a file that it takes has steps in order.
func FuzzRead(f *testing.F) {
	f.Add(begin + aCalls + `{"event":"return","at":5,"call":1,"outcome":"ok"}`)
	f.Add(strings.Replace(begin, "}", `,"server":true}`, 1) +
		`{"event":"change","at":5,"change":"session-ended","owner":"0x1","zxid":1}` + "\n" +
		`{"event":"notice","at":5,"client":{"base64":"AA=="},"notice":"lock-lost","token":3}`)
	f.Add(`{"msg":"a","zksim":` + strings.TrimSpace(begin) + "}\n" + `{"msg":"b"}`)
	f.Fuzz(func(t *testing.T, file string) {
		got, err := Read(strings.NewReader(file))
		if err != nil {
			return
		}
		for _, op := range got.History.Ops {
			if op.Client == "" || op.Kind == "" || op.Call < 2 || op.Call > got.History.End ||
				op.Return >= 0 && op.Return <= op.Call {
				t.Errorf("%+v", op)
			}
		}
	})
}
