package hunt

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
)

// viewOf is a hash of what each client has done, sent and got in a run.
func viewOf(o *scenario.Outcome) uint64 {
	f := fnv.New64a()
	for _, text := range views(o) {
		fmt.Fprintf(f, "%s\n", text)
	}
	return f.Sum64()
}

// views are the lines of each client in the trace of a run, first those of the client and then
// those of its requests at the server. Times, zxids, tokens and pings are left out. Sessions and
// GUIDs have names by the order in which the client meets them.
func views(o *scenario.Outcome) []string {
	of := map[string]*view{}
	clients := o.Scenario.Script.ClientNames()
	for _, client := range clients {
		of[client] = &view{names: map[string]int{}}
	}
	for _, atServer := range []bool{false, true} {
		for n := range o.Result.Trace.Len() {
			e := o.Result.Trace.Entry(int64(n + 1))
			if v := of[scenario.ClientOf(e.Actor)]; v != nil && strings.HasPrefix(e.Text, "->") == atServer &&
				!isPing(e.Text) {
				v.add(e.Text)
			}
		}
	}
	var all []string
	for _, client := range clients {
		all = append(all, of[client].text.String())
	}
	return all
}

func isPing(line string) bool {
	return strings.HasPrefix(line, "-> ping") || strings.HasPrefix(line, "<- ping")
}

// A view is what a client sees of a run.
type view struct {
	text  strings.Builder
	names map[string]int // of sessions and GUIDs, such as S1 and G2
}

// add adds a line. A proof spends much of its time here, so there are no regular expressions.
func (v *view) add(line string) {
	for i := 0; i < len(line); {
		switch number, name := numberOf(line[i:]), nameAt(line, i); {
		case number > 0:
			i += number
		case name > 0:
			v.addName(line[i : i+name])
			i += name
		default:
			v.text.WriteByte(line[i])
			i++
		}
	}
	v.text.WriteByte('\n')
}

func (v *view) addName(name string) {
	if v.names[name] == 0 {
		v.names[name] = len(v.names) + 1
	}
	fmt.Fprintf(&v.text, "%c%d", name[0], v.names[name])
}

// numberOf is the length of a number of the run, such as ", zxid 12", at the beginning of a text; 0
// if there is none.
func numberOf(text string) int {
	if text[0] != ',' && text[0] != ' ' {
		return 0
	}
	for _, label := range []string{", zxid ", ", token ", " since zxid "} {
		if rest, ok := strings.CutPrefix(text, label); ok {
			if n := digits(rest); n > 0 {
				return len(label) + n
			}
		}
	}
	return 0
}

// nameAt is the length of a name such as S1, or G2 of _c_G2-lock-, at a place of a text; 0 if there
// is none.
func nameAt(text string, at int) int {
	if text[at] != 'S' && text[at] != 'G' || at > 0 && isOfWord(text[at-1]) {
		return 0
	}
	n := digits(text[at+1:])
	if n == 0 || at+1+n < len(text) && isOfWord(text[at+1+n]) {
		return 0
	}
	return 1 + n
}

// digits is the number of digits at the beginning of a text.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

func isOfWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
