package scenario

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// brokeAt is the place at which a run panicked or froze, with one line for each call. It is equal
// in each run, and "" if the run did neither.
func brokeAt(r *trace.Result) string {
	if len(r.Panics) > 0 {
		return place{panicFrames(r.Panics[0])}.String()
	}
	return frozenAt(r.Frozen)
}

// panickedAt is the place of a panic in the code under test.
func panickedAt(r *trace.Result) string {
	f, ok := innermostUser(panicFrames(r.Panics[0]))
	if !ok {
		return ""
	}
	return fmt.Sprintf(", in %s at %s", f.function[strings.LastIndex(f.function, "/")+1:], f.source)
}

// beforePanic is what the client whose code panicked did or learned last.
func beforePanic(r *trace.Result) string {
	client, _, _ := strings.Cut(strings.TrimPrefix(firstLine(r.Panics[0]), "client "), ":")
	act := lastAct(r, nil, client, r.Steps)
	if act == "" {
		return ""
	}
	return fmt.Sprintf("; the last that %s did or learned: %s", client, act)
}

// panicFrames are the calls that were cut short by a panic or by the end of its goroutine.
func panicFrames(report string) []frame {
	_, stack, _ := strings.Cut(report, "\ngoroutine ")
	lines := strings.Split(stack, "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "panic(") || strings.HasPrefix(line, "runtime.Goexit(")
	})
	if at < 0 {
		return nil
	}
	frames := framesOf(strings.Join(lines[at+1:], "\n"))
	for len(frames) > 0 && strings.HasPrefix(frames[0].function, "runtime.") {
		frames = frames[1:] // how the runtime came to panic
	}
	return underTest(frames)
}

// underTest leaves out the calls of this package that called the code under test: they do not help,
// and change with the package. If there is no code under test it returns all calls.
func underTest(frames []frame) []frame {
	user := slices.IndexFunc(frames, func(f frame) bool {
		return !machinery.MatchString(f.function)
	})
	if user < 0 {
		return named(frames)
	}
	caller := slices.IndexFunc(frames[user:], func(f frame) bool {
		return playing.MatchString(f.function)
	})
	if caller < 0 {
		return named(frames)
	}
	return named(frames[:user+caller])
}

// literal matches the names of function literals. The rest of such a name depends on inlining, and
// so on the compiler's flags.
var literal = regexp.MustCompile(`^(.*/)?([^./]+)\..*(\.func\d|-range\d|wrap\d)`)

// nameOf is the name of a function, equal for all flags of the compiler.
func nameOf(function string) string {
	if m := literal.FindStringSubmatch(function); m != nil {
		return "a function literal in " + m[1] + m[2]
	}
	return function
}

// named returns frames that are equal for all flags of the compiler. It removes the line at which a
// function calls its own function literals: most of these calls are deferred, and their line
// depends on the flags.
func named(frames []frame) []frame {
	told := slices.Clone(frames)
	for i, f := range frames {
		if i > 0 && strings.HasPrefix(frames[i-1].function, f.function+".func") {
			told[i] = f.withoutLine()
		}
		told[i].function = nameOf(f.function)
	}
	return told
}

func (f frame) withoutLine() frame {
	f.source, _, _ = strings.Cut(f.source, ":")
	return f
}

// judgeLeaks adds a verdict to a report if goroutines were left behind.
func judgeLeaks(report *linearizability.Report, rest *linearizability.Leftovers) {
	if len(rest.Leaked) > 0 {
		report.Worsen(linearizability.Verdict{
			Property: linearizability.Orphans, Status: linearizability.Violated,
			Summary: "left at rest: a goroutine: " + strings.Join(rest.Leaked, "; a goroutine: "),
		})
	}
}

// ofConnection matches the functions that begin the goroutines of a connection, in go-zookeeper and
// its forks.
var ofConnection = regexp.MustCompile(`/(zk|internal/zkclient)\.(Connect|\(\*Conn\)\.)`)

// leaks describes each goroutine that a run left behind: its place, and the call that began it,
// equal in each run. If a script has not ended, its connections are open, and their goroutines are
// not left behind.
func leaks(r *trace.Result) []string {
	if r.Leaked == "" {
		return nil
	}
	why, stacks, _ := strings.Cut(r.Leaked, "\n")
	var told []string
	inUse := false
	for stack := range trace.Stacks(stacks) {
		function, source := begunBy(stack)
		if ofConnection.MatchString(function) && mayBeInUse(stack, stacks, r) {
			inUse = true
			continue
		}
		frames := framesOf(stack)
		inRun := strings.Contains(firstLine(stack), "synctest bubble") || strings.Contains(stack,
			"/realworld.(*run).script(")
		if len(frames) == 0 || !inRun {
			continue // in a real world the stacks are those of the whole process
		}
		at := "it never ends: it is at " + cmp.Or((place{frames}).first(),
			frames[0].source) + ", in " + nameOf(frames[len(frames)-1].function)
		if trace.ActivityOf(stack) == trace.Runs {
			f := spinning(frames)[0]
			at = "it never ends: it spins at " + f.source + ", in " + f.function
		}
		if function != "" {
			at += ", begun at " + source + " by " + nameOf(function)
		}
		told = append(told, at)
	}
	if len(told) == 0 && !inUse {
		return []string{why}
	}
	slices.Sort(told) // the runtime lists them in no order
	return slices.Compact(told)
}

// mayBeInUse reports whether a connection may belong to a script that has not ended, given the
// stack of one of its goroutines, and all stacks. A connection belongs to the script that has begun
// it. If the goroutine that has begun it is gone, and was not a script, any script may have it.
func mayBeInUse(stack, stacks string, r *trace.Result) bool {
	if len(r.Busy) == 0 {
		return false
	}
	for stack != "" {
		id := beginner(stack)
		if client, ok := r.Scripts[id]; ok {
			return slices.Contains(r.Busy, client)
		}
		stack = stackOf(id, stacks)
	}
	return true
}

// beginner is the number of the goroutine that has begun the one of a stack, 0 if it has none.
func beginner(stack string) int64 {
	_, after, _ := strings.Cut(stack, "\ncreated by ")
	_, number, _ := strings.Cut(firstLine(after), " in goroutine ")
	id, _ := strconv.ParseInt(number, 10, 64) // 0 if there is no number
	return id
}

// stackOf is the stack of a goroutine, "" if it is not among the stacks.
func stackOf(goroutine int64, stacks string) string {
	for stack := range trace.Stacks(stacks) {
		if strings.HasPrefix(stack, fmt.Sprintf("goroutine %d ", goroutine)) {
			return stack
		}
	}
	return ""
}

// begunBy is the last call of a stack trace, which began the goroutine.
func begunBy(stack string) (function, source string) {
	_, last, ok := strings.Cut(stack, "\ncreated by ")
	if !ok {
		return "", ""
	}
	function, line, _ := strings.Cut(last, "\n")
	function, _, _ = strings.Cut(function, " in goroutine ")
	m := sourceLine.FindStringSubmatch(firstLine(line))
	if m == nil {
		return "", ""
	}
	return function, path.Base(m[1]) + ":" + m[2]
}
