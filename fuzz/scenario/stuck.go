package scenario

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// judgeScripts adds a verdict to a report for scripts that had not ended when the faults were over
// and their time, limit, was up. A script that is blocked in a recorded call is left to the judge,
// if it judges liveness; no judge sees a script that waits outside of every call. judgeScripts
// returns the places of the scripts with a new verdict. It adds none if liveness is violated
// already, for instance by a client that fails for ever.
func judgeScripts(report *linearizability.Report, r *trace.Result, players []*Player,
	limit time.Duration) (where string) {
	liveness, judged := report.Verdict(linearizability.Liveness)
	if liveness.Status == linearizability.Violated {
		return ""
	}
	for i, client := range r.Busy {
		pending := pendingCall(r, players, client)
		if pending != "" && judged {
			continue
		}
		place := placeOf(r, i)
		why := "no call of its is under way"
		if pending != "" {
			why = fmt.Sprintf("its %s never returned", pending)
		}
		if at := place.first(); at != "" {
			why += ", and it is at " + at
		}
		report.Worsen(violatedLiveness(nil,
			"client %s's script has not ended after %s, although the faults stopped: %s", client,
			virtualTime(limit), why))
		where += fmt.Sprintf("client %s's script:\n%s", client, place)
	}
	return where
}

// pendingCall is the kind of a call that some goroutine of a client has under way, "" if there is
// none.
func pendingCall(r *trace.Result, players []*Player, client string) string {
	for _, p := range players {
		if p.client.Of() != client {
			continue
		}
		ops := p.ops(r)
		if i := slices.IndexFunc(ops, func(op linearizability.Op) bool {
			return op.Outcome == linearizability.OpPending
		}); i >= 0 {
			return ops[i].Kind
		}
	}
	return ""
}

// place is the position of the goroutines of a script: the calls of each, the innermost first.
// Unlike a stack trace it is equal in each run.
type place [][]frame

// frame is a call: the function, and the place in the source.
type frame struct {
	function, source string
	file             string // of the source, with its directory
	line             int
}

func placeOf(r *trace.Result, busy int) place {
	if busy >= len(r.BusyStacks) {
		return nil
	}
	var p place
	for stack := range strings.SplitSeq(r.BusyStacks[busy], "\n\n") {
		p = append(p, framesOf(stack))
	}
	return p
}

var sourceLine = regexp.MustCompile(`^\t(.*):(\d+)(?: \+0x[0-9a-f]+)?$`)

// framesOf reads the part of a stack trace with one goroutine, down to the call by which the World
// started the script.
func framesOf(stack string) []frame {
	var frames []frame
	lines := strings.Split(stack, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		m := sourceLine.FindStringSubmatch(lines[i+1])
		if m == nil || strings.HasPrefix(lines[i], "created by ") || strings.Contains(lines[i],
			"/scenario.Scenario.world") || strings.Contains(lines[i], "/sim.(*Goroutine).play") {
			break
		}
		function := lines[i]
		if at := strings.LastIndex(function, "("); at > 0 {
			function = function[:at]
		}
		line, _ := strconv.Atoi(m[2]) // only digits match
		frames = append(frames, frame{function, filepath.Base(m[1]) + ":" + m[2], m[1], line})
	}
	return frames
}

// first is the innermost call of the code under test or of its script: calls of this module and of
// the standard library are left out. It is "" if nothing is known.
func (p place) first() string {
	for _, stack := range p {
		if f, ok := innermostUser(stack); ok {
			return f.source
		}
	}
	return ""
}

// innermostUser is the innermost call of the code under test, or of its script.
func innermostUser(frames []frame) (f frame, ok bool) {
	i := slices.IndexFunc(frames, func(f frame) bool { return !machinery.MatchString(f.function) })
	if i < 0 {
		return frame{}, false
	}
	return frames[i], true
}

var machinery = regexp.MustCompile(`^(` +
	`(runtime|internal|sync|time|context|testing|net|crypto|os|io|bufio|syscall)[./]|` +
	`github\.com/(go-zookeeper/zk|zksim/zksim/(fakezk(/sim|/realworld|/internal/zkclient)?|` +
	`fuzz(/scenario|/object|/property)?))\.)`)

// playing are the functions that call the code under test.
var playing = regexp.MustCompile(`^github\.com/zksim/zksim/fuzz(/scenario|/object)?\.`)

// String is a line for each call, and an empty one between goroutines.
func (p place) String() string {
	var b strings.Builder
	for i, stack := range p {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, f := range stack {
			fmt.Fprintf(&b, "  %s  %s\n", f.source, f.function)
		}
	}
	return b.String()
}
