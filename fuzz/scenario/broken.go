package scenario

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// brokeAt tells where a run broke that panicked or froze, one line for each call, the
// same in each run; "" if it did neither.
func brokeAt(r *trace.Result) string {
	if len(r.Panics) > 0 {
		return place{panicFrames(r.Panics[0])}.String()
	}
	return frozenAt(r.Frozen)
}

// panicFrames are the calls that a panic, or the end of its goroutine, cut short.
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

// frozenAt tells of those goroutines of a frozen run that keep virtual time from
// passing: of one that spins as far as it stays the same however long it does. If one
// of them waits for a mutex it tells of the others too that are in the code under
// test: who holds it is among them.
func frozenAt(stacks string) string {
	var culprits, others []string
	blocked := false
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		frames := framesOf(stack)
		switch {
		case len(frames) == 0:
		case durable(stack):
			if (place{frames}).first() != "" {
				others = append(others,
					"a goroutine that waits:\n"+place{underTest(frames)}.String())
			}
		case waiting(stack):
			blocked = true
			culprits = append(culprits,
				"a goroutine that waits for a mutex, or for what is outside of the run:\n"+place{underTest(frames)}.String())
		default:
			culprits = append(culprits,
				"a goroutine that spins:\n"+place{spinning(frames)}.String())
		}
	}
	if blocked {
		culprits = append(culprits, others...)
	}
	slices.Sort(culprits) // the runtime lists them in no order
	return strings.Join(slices.Compact(culprits), "\n")
}

// FrozenStacks are the stacks of the goroutines that keep virtual time from passing in
// a run that froze, as they were seen.
func (o *Outcome) FrozenStacks() string { return restless(o.Result.Frozen) }

// restless are the stacks of those goroutines of a frozen run that keep virtual time from
// passing, as they were seen; all of them if none is known to.
func restless(stacks string) string {
	kept := slices.DeleteFunc(strings.Split(stacks, "\n\n"), durable)
	if len(kept) == 0 {
		return stacks
	}
	return strings.Join(kept, "\n\n")
}

// durable reports whether a goroutine's stack says that it lets virtual time pass.
func durable(stack string) bool { return strings.Contains(firstLine(stack), "(durable)") }

// waiting reports whether a goroutine's stack says that it is blocked.
func waiting(stack string) bool {
	_, state, _ := strings.Cut(firstLine(stack), "[")
	return slices.ContainsFunc([]string{"sync.", "semacquire", "chan ", "select", "IO wait"},
		func(kind string) bool {
			return strings.HasPrefix(state, kind)
		})
}

// underTest leaves out by which calls of this package the code under test was called;
// they say nothing, and change with it. If there is no such code it leaves out nothing.
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

// literal is in the names of function literals. How they go on depends on what the
// compiler has inlined, and so on its flags.
var literal = regexp.MustCompile(`^(.*/)?([^./]+)\..*(\.func\d|-range\d|wrap\d)`)

// nameOf is a function's name, the same however it was compiled.
func nameOf(function string) string {
	if m := literal.FindStringSubmatch(function); m != nil {
		return "a function literal in " + m[1] + m[2]
	}
	return function
}

// named are frames as they are however they were compiled. The line from which a
// function calls its own literals is left out: those are mostly deferred, and it
// depends on the compiler's flags which line that is.
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

// spinning is the call of a goroutine that spins that is the same whenever one looks:
// that of the code under test. Its line is left out, as what it calls is.
func spinning(frames []frame) []frame {
	frames = underTest(frames)
	return []frame{frames[len(frames)-1].withoutLine()}
}

// judgeLeaks adds to a report that goroutines were left behind, unless it says already
// that something was.
func judgeLeaks(report *linearizability.Report, rest *linearizability.Leftovers) {
	if len(rest.Leaked) > 0 {
		report.Worsen(linearizability.Verdict{
			Property: linearizability.Orphans, Status: linearizability.Violated,
			Summary: "left at rest: a goroutine: " + strings.Join(rest.Leaked, "; a goroutine: "),
		})
	}
}

// leaks tells of each goroutine that a run left behind: where it hangs and what began
// it, the same in each run. report is a line and stacks.
func leaks(report string) []string {
	if report == "" {
		return nil
	}
	why, stacks, _ := strings.Cut(report, "\n")
	var told []string
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		frames := framesOf(stack)
		inRun := strings.Contains(firstLine(stack), "synctest bubble") || strings.Contains(stack,
			"/realworld.(*run).script(")
		if len(frames) == 0 || !inRun {
			continue // in a real world the stacks are those of the whole process
		}
		at := "it never ends: it is at " + cmp.Or((place{frames}).first(),
			frames[0].source) + ", in " + nameOf(frames[len(frames)-1].function)
		if function, source := begunBy(stack); function != "" {
			at += ", begun at " + source + " by " + nameOf(function)
		}
		told = append(told, at)
	}
	if len(told) == 0 {
		return []string{why}
	}
	slices.Sort(told) // the runtime lists them in no order
	return slices.Compact(told)
}

// begunBy is the last call of a stack trace, which made the goroutine.
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
