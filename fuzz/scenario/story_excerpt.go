package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/internal/fold"
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
	serverOf := map[int64]string{} // of several, that of each request
	for _, p := range o.Result.Requests {
		if o.Scenario.Script.Servers > 1 {
			serverOf[p.Step] = fmt.Sprintf(" (server %d)", p.Server)
		}
	}
	texts := newDataTexts(o.Result)
	for n := int64(1); n <= int64(o.Result.Trace.Len()); n++ {
		e := o.Result.Trace.Entry(n)
		plain := e.Text
		e.Text = texts.add(e) + serverOf[n]
		if named[n] || isInteresting(e) && !o.IsOwn(e) {
			line := excerptLine{Entry: e, shape: fold.Shape(plain), named: named[n]}
			lines = append(lines, line)
		}
	}
	lines = withLogs(lines, o.Result.Logs)
	foldRepeats(lines)
	lines = slices.DeleteFunc(lines, func(l excerptLine) bool { return l.folded })
	if o.Scenario.recorded != nil {
		return cutMiddle(lines, 5, 5, 10)
	}
	return cutMiddle(lines, 45, 15, 0)
}

// withLogs merges the lines of a log into those of the trace, by time. At one instant the lines of
// the trace come first.
func withLogs(lines []excerptLine, logs []trace.LogLine) []excerptLine {
	var all []excerptLine
	for _, log := range logs {
		n := 0
		for n < len(lines) && lines[n].Time <= log.Time {
			n++
		}
		all, lines = append(all, lines[:n]...), lines[n:]
		entry := trace.Entry{Time: log.Time, Actor: "log", Text: log.Text}
		if len(all) > 0 {
			entry.Step = all[len(all)-1].Step
		}
		all = append(all, excerptLine{Entry: entry, shape: fold.Shape(entry.Text)})
	}
	return append(all, lines...)
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

var stepNames = regexp.MustCompile(`\bsteps? (\d+)(?: (?:to|and) (\d+))?`)

// NamedSteps are the steps that the summary of a verdict names, in its order. A step may occur
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
	"session ", "notifies ", NoEvent,
}

func isInteresting(e trace.Entry) bool {
	if strings.HasPrefix(e.Text, "<- event") || strings.Contains(e.Text, "refused") {
		return true
	}
	return !slices.ContainsFunc(dull, func(d string) bool { return strings.HasPrefix(e.Text, d) })
}

// longestCycle bounds the lines that are compared with the next ones: the calls and requests of one
// attempt.
const longestCycle = 8

// foldRepeats marks the lines of each actor that only repeat the lines before them.
func foldRepeats(lines []excerptLine) {
	byActor := map[string][]int{}
	for i, l := range lines {
		byActor[l.Actor] = append(byActor[l.Actor], i)
	}
	for _, of := range byActor {
		cycles := fold.Cycles(len(of), longestCycle, func(i, j int) bool {
			return lines[of[i]].shape == lines[of[j]].shape && !lines[of[j]].named
		})
		for _, c := range cycles {
			cycle := of[c.From : c.From+c.Len]
			again := of[c.From+c.Len : c.From+c.Len*(c.Repeats+1)]
			for _, i := range again {
				lines[i].folded = true
			}
			lines[cycle[c.Len-1]].behind =
				repeatRemark(lines, cycle, c.Repeats, again[len(again)-1])
		}
	}
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

// mostLines is the greatest number of lines of an excerpt that nothing is left out of.
const mostLines = 65

// cutMiddle is the text of the lines. If there are too many, it has those at the beginning and at
// the end, the named ones, and those around these.
func cutMiddle(lines []excerptLine, head, tail, around int) string {
	var b strings.Builder
	gap, last := 0, -around-1 // the last named line
	for i, l := range lines {
		next := lines[i:min(len(lines), i+around+1)]
		if l.named {
			last = i
		}
		if len(lines) > mostLines && i >= head && i < len(lines)-tail && i > last+around &&
			!slices.ContainsFunc(next, func(l excerptLine) bool { return l.named }) {
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
