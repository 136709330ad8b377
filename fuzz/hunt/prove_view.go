package hunt

import (
	"fmt"
	"hash/fnv"
	"regexp"
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
	of := map[string]*strings.Builder{}
	clients := o.Scenario.Script.ClientNames()
	for _, client := range clients {
		of[client] = &strings.Builder{}
	}
	for _, atServer := range []bool{false, true} {
		for n := range o.Result.Trace.Len() {
			e := o.Result.Trace.Entry(int64(n + 1))
			owner, _, _ := strings.Cut(strings.TrimRight(e.Actor, "'"), ".")
			if text := of[owner]; text != nil && strings.HasPrefix(e.Text, "->") == atServer &&
				!pings.MatchString(e.Text) {
				fmt.Fprintf(text, "%s\n", numbersOfRun.ReplaceAllString(e.Text, ""))
			}
		}
	}
	var all []string
	for _, client := range clients {
		names := map[string]string{}
		all = append(all, namesOfRun.ReplaceAllStringFunc(of[client].String(),
			func(name string) string {
				if names[name] == "" {
					names[name] = fmt.Sprintf("%c%d", name[0], len(names)+1)
				}
				return names[name]
			}))
	}
	return all
}

var (
	pings        = regexp.MustCompile(`^(->|<-) ping\b`)
	numbersOfRun = regexp.MustCompile(`, (zxid|token) \d+`)
	namesOfRun   = regexp.MustCompile(`\b[SG]\d+\b`)
)
