package scenario

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// frozenVerdict is the verdict on a run in which virtual time could not pass. A goroutine that
// spins is a violation, and so is a mutex that nobody can unlock, in a run without faults: a hunt
// plays it before all others, and in a later one another run may hold the mutex. A mutex whose
// holder rests, and a wait for something outside of the run, may be right in a real program, where
// time passes: then the verdict is unknown.
func (o *Outcome) frozenVerdict() linearizability.Verdict {
	r := o.Result
	v := linearizability.Verdict{Property: frozenProperty, Status: linearizability.Violated,
		Summary: "the run froze: code spins, so that no virtual time can pass; " +
			"the run was not tried to its end"}
	if summary := onNetwork(r.Frozen); summary != "" {
		v.Status, v.Summary = linearizability.Unknown, summary
		return v
	}
	if r.Spins {
		return v
	}
	if summary := deadlock(r.Frozen); summary != "" && len(o.Scenario.Plan) == 0 {
		v.Summary = summary
		return v
	}
	v.Status = linearizability.Unknown
	if v.Summary = lockedUp(r.Frozen); v.Summary != "" {
		v.Summary += overlayHint()
	} else {
		v.Summary = "the run froze: a goroutine waits for something outside of the run" +
			waitsAt(r.Frozen) + ", so that no virtual time can pass"
	}
	return v
}

// waitsAt says where a goroutine of the code under test waits for something outside of the run. It
// is "" if that is not known.
func waitsAt(stacks string) string {
	var places []string
	for stack := range trace.Stacks(stacks) {
		at, inUserCode := innermostUser(framesOf(stack))
		if inUserCode && trace.ActivityOf(stack) == trace.Waits {
			places = append(places, " at "+at.source)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return slices.Min(places) // the runtime lists them in no order
}

// deadlock describes mutexes that nobody can unlock: every script, and every goroutine in the code
// under test, waits for one of them. It is "" if there may be a holder that goes on as soon as time
// passes. Such a holder may be a goroutine of the code that rests, or a script between two calls:
// an object may hold its mutex from one call to another.
func deadlock(stacks string) string {
	var told []string
	for stack := range trace.Stacks(stacks) {
		at, inUserCode := innermostUser(framesOf(stack))
		switch {
		case inUserCode && trace.WaitsForMutex(stack) && ofThisRun(stack):
			told = append(told, "at "+at.source+" a goroutine waits for "+mutexAt(at))
		case inUserCode || strings.Contains(stack, "/sim.(*Goroutine).play"):
			return ""
		}
	}
	if len(told) == 0 {
		return ""
	}
	slices.Sort(told) // the runtime lists them in no order
	return "the run froze in a deadlock: " + strings.Join(slices.Compact(told), ", and ") +
		"; no goroutine is left that could unlock it"
}

// waitForMutex matches the call that waits for a mutex.
var waitForMutex = regexp.MustCompile(`(?m)^(?:internal/)?sync\.\(\*\w*Mutex\)\.\w+\((0x[0-9a-f]+)`)

// shortAddress is the most digits of the address of a variable of the program, after 0x. What the
// code makes while it runs has a longer one.
const shortAddress = 8

// ofThisRun reports whether a goroutine waits for a mutex that the code has made while it ran.
// Another mutex is a variable of the program, which another run may hold.
func ofThisRun(stack string) bool {
	m := waitForMutex.FindStringSubmatch(stack)
	return m != nil && len(m[1]) > len("0x")+shortAddress
}

// lockedUp describes the mutex that keeps virtual time from passing: where a goroutine waits for
// it, and where its holder waits. It is "" if there is none.
func lockedUp(stacks string) string {
	var told []string
	for stack := range trace.Stacks(stacks) {
		at, ok := innermostUser(framesOf(stack))
		if !trace.WaitsForMutex(stack) || !ok {
			continue
		}
		told = append(told, fmt.Sprintf("the run froze: at %s a goroutine waits for %s, and %s, "+
			"so that no virtual time can pass", at.source, mutexAt(at), holderOf(stack, stacks)))
	}
	if len(told) == 0 {
		return ""
	}
	return slices.Min(told) // the runtime lists them in no order
}

// holderOf describes the place of a mutex's holder, given the stack of a goroutine that waits for
// the mutex. The runtime does not know the holder: it is one of the goroutines that rest in the
// code under test. If some of these work with the same object, only they count.
func holderOf(waiter, stacks string) string {
	var places, near []string
	for stack := range trace.Stacks(stacks) {
		at, ok := innermostUser(framesOf(stack))
		if trace.ActivityOf(stack) != trace.Rests || !ok {
			continue
		}
		places = append(places, at.source)
		if shareObject(waiter, stack) {
			near = append(near, at.source)
		}
	}
	if len(near) > 0 {
		places = near
	}
	if len(places) == 0 {
		return "no goroutine that waits holds it: it was never unlocked, or is not of this run"
	}
	slices.Sort(places)
	return "the holder waits at " + strings.Join(slices.Compact(places), " or ")
}

// receiver matches the first argument of a function in a stack trace, if it was made at run time.
var receiver = regexp.MustCompile(`\((0x[0-9a-f]{9,})`)

// shareObject reports whether two goroutines are in methods of one object.
func shareObject(a, b string) bool {
	for _, m := range receiver.FindAllStringSubmatch(a, -1) {
		if strings.Contains(b, "("+m[1]) {
			return true
		}
	}
	return false
}

// lockCall matches a call that locks a mutex.
var lockCall = regexp.MustCompile(`([\w.\[\]]+)\.R?Lock\(\)`)

// mutexAt names the mutex of a call by the line of the source, if the file is there.
func mutexAt(f frame) string {
	const unnamed = "a mutex"
	file, err := os.Open(f.file)
	if err != nil {
		return unnamed
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if n == f.line {
			if m := lockCall.FindStringSubmatch(lines.Text()); m != nil {
				return "the mutex " + m[1]
			}
			return unnamed
		}
	}
	return unnamed
}

// frozenAt lists the goroutines of a frozen run that keep virtual time from passing. A goroutine
// that spins is shown by the one call that stays the same for as long as it spins. If a goroutine
// waits for a mutex, the list also has the other goroutines in the code under test: the holder of
// the mutex is among them.
func frozenAt(stacks string) string {
	var culprits, others []string
	blocked := false
	for stack := range trace.Stacks(stacks) {
		frames, activity := framesOf(stack), trace.ActivityOf(stack)
		switch {
		case len(frames) == 0:
		case activity == trace.Rests:
			if (place{frames}).first() != "" {
				others = append(others,
					"a goroutine that waits:\n"+place{underTest(frames)}.String())
			}
		case activity == trace.Waits:
			blocked = true
			culprits = append(culprits,
				"a goroutine that waits for a mutex, "+
					"or for what is outside of the run:\n"+place{underTest(frames)}.String())
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

// spinning is the call of a spinning goroutine that is equal at any moment: the call of the code
// under test, without its line.
func spinning(frames []frame) []frame {
	frames = underTest(frames)
	return []frame{frames[len(frames)-1].withoutLine()}
}
