package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
)

// excerpt is the trace without the lines that say little: handshakes, pings, replies, and the
// server's events of a request. Lines that a client repeats again and again are folded, and a long
// excerpt is cut in the middle. The steps that the summary names are always there.
func (o *Outcome) excerpt() string {
	named := map[int64]bool{}
	for _, step := range NamedSteps(o.Summary()) {
		named[step] = true
	}
	var lines []excerptLine
	texts := newDataTexts(o.Result)
	for n := int64(1); n <= int64(o.Result.Trace.Len()); n++ {
		e := o.Result.Trace.Entry(n)
		shape := numbers.ReplaceAllString(e.Text, "")
		e.Text = texts.add(e)
		if named[n] || telling(e) {
			lines = append(lines, excerptLine{Entry: e, shape: shape, named: named[n]})
		}
	}
	foldRepeats(lines)
	lines = slices.DeleteFunc(lines, func(l excerptLine) bool { return l.folded })
	return cutMiddle(lines)
}

// An excerptLine is a line of an excerpt.
type excerptLine struct {
	trace.Entry
	// shape is the text without its numbers: lines of one shape repeat each other.
	shape string
	// named says that the summary names the step.
	named bool
	// folded says that the line is left out, and behind is a remark on the lines left out after
	// this one.
	folded bool
	behind string
}

// numbers are the parts in which a line differs from its repetition.
var numbers = regexp.MustCompile(`#\d+|\bzxid -?\d+|G\d+|^dial \d+|^connection \d+`)

var stepNames = regexp.MustCompile(`\bsteps? (\d+)(?: (?:to|and) (\d+))?`)

// NamedSteps are the steps that the summary of a verdict names, in its order. A step may be there
// several times.
func NamedSteps(summary string) []int64 {
	var steps []int64
	for _, match := range stepNames.FindAllStringSubmatch(summary, -1) {
		for _, number := range match[1:] {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				steps = append(steps, n)
			}
		}
	}
	return steps
}

// dull are the beginnings of lines that say little: replies, which the line of their request
// contains already, and the server's events of a request.
var dull = []string{
	"<- ", "-> ping", "-> connect", "connects ", "is told: connected", "created ", "changed ",
	"session ", "notifies ",
}

func telling(e trace.Entry) bool {
	if strings.HasPrefix(e.Text, "<- event") || strings.Contains(e.Text, "refused") {
		return true
	}
	return !slices.ContainsFunc(dull, func(d string) bool { return strings.HasPrefix(e.Text, d) })
}

// longestFold bounds the lines that are compared with the next ones: the calls and requests of one
// attempt. fewestRepeats is how often they must come again to be folded.
const longestFold, fewestRepeats = 8, 3

// foldRepeats marks the lines of each actor that only repeat the lines before them.
func foldRepeats(lines []excerptLine) {
	byActor := map[string][]int{}
	for i, l := range lines {
		byActor[l.Actor] = append(byActor[l.Actor], i)
	}
	for _, own := range byActor {
		for from := 0; from < len(own); {
			cycle, repeats := repetition(lines, own[from:])
			if repeats < fewestRepeats {
				from++
				continue
			}
			last := own[from+cycle*(repeats+1)-1]
			for _, i := range own[from+cycle : from+cycle*(repeats+1)] {
				lines[i].folded = true
			}
			lines[own[from+cycle-1]].behind = repeatRemark(lines, own[from:from+cycle], repeats, last)
			from += cycle * (repeats + 1)
		}
	}
}

// repetition is the shortest cycle of lines at the beginning of an actor's lines that is repeated
// often, and how often it is.
func repetition(lines []excerptLine, own []int) (cycle, repeats int) {
	for cycle = 1; cycle <= min(longestFold, len(own)/(fewestRepeats+1)); cycle++ {
		same := 0
		for same+cycle < len(own) && lines[own[same]].shape == lines[own[same+cycle]].shape &&
			!lines[own[same+cycle]].named {
			same++
		}
		if repeats = same / cycle; repeats >= fewestRepeats {
			return cycle, repeats
		}
	}
	return 0, 0
}

// repeatRemark says that an actor repeats lines, up to the last one. A client that only reads, and
// sets no watch, polls.
func repeatRemark(lines []excerptLine, cycle []int, repeats, last int) string {
	polls := !slices.ContainsFunc(cycle, func(i int) bool { return !isPoll(lines[i].Text) })
	does := "repeats"
	if polls {
		does = "polls: it repeats"
	}
	which := "its last line"
	if len(cycle) > 1 {
		which = fmt.Sprintf("its last %d lines", len(cycle))
	}
	end := lines[last].Entry
	return fmt.Sprintf("      ... %s %s %s %d times, up to step %d at %.3fs",
		end.Actor, does, which, repeats, end.Step, end.Time.Seconds())
}

var poll = regexp.MustCompile(`^-> #\d+ (exists|getData|getChildren2?) `)

func isPoll(text string) bool { return poll.MatchString(text) }

// cutMiddle is the text of the lines. Of many lines the middle is left out, but for named lines.
func cutMiddle(lines []excerptLine) string {
	const head, tail = 45, 15
	long := len(lines) > head+tail+5
	var b strings.Builder
	gap := 0
	for i, l := range lines {
		if long && i >= head && i < len(lines)-tail && !l.named {
			gap++
			continue
		}
		writeGap(&b, gap)
		gap = 0
		fmt.Fprintln(&b, l)
		if l.behind != "" {
			fmt.Fprintln(&b, l.behind)
		}
	}
	writeGap(&b, gap)
	return b.String()
}

func writeGap(b *strings.Builder, lines int) {
	switch lines {
	case 0:
	case 1:
		b.WriteString("      ... 1 more line of the trace\n")
	default:
		fmt.Fprintf(b, "      ... %d more lines of the trace\n", lines)
	}
}
