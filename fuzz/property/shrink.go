package property

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/saved"
	"pgregory.net/rapid"
)

// shrunkPlan is a plan that shows a failure as well as the drawn one. Rapid's fail file has the
// draws only, so the plan stands beside it in a file.
type shrunkPlan struct {
	seed        uint64
	drawn, plan []fault.Fault
}

// mostTries limits the runs that make a plan plainer.
const mostTries = 300

// chosen is the plan in place of a drawn one.
func (c *checker) chosen(seed uint64, drawn []fault.Fault) []fault.Fault {
	for _, p := range c.shrunk {
		if p.seed == seed && slices.Equal(p.drawn, drawn) {
			return p.plan
		}
	}
	return drawn
}

// shrinkPlan leaves faults out of the plan of the last failure, and makes others plainer, for as
// long as the failure stays. rapid has done the same with its draws, but only for so long.
func (c *checker) shrinkPlan() {
	if c.tb == nil || c.last == nil || len(c.last.plan) == 0 {
		return
	}
	name, bits := c.failFile()
	if name == "" {
		return // rapid has written none
	}
	first := c.last
	c.gained = c.now()
	for best, tries := first, 0; best != nil && tries < mostTries; {
		if best = c.firstThatFails(best, bits, &tries); best != nil {
			c.last, c.gained = best, c.now()
		}
	}
	if slices.Equal(c.last.plan, first.plan) {
		return
	}
	name = planBeside(name)
	best := shrunkPlan{c.last.seed, c.last.drawn, c.last.plan}
	c.shrunk = slices.Insert(c.shrunk, 0, best)
	if err := os.WriteFile(name, []byte(best.text()), 0o666); err != nil {
		c.tb.Logf("the smaller plan cannot be saved: %v", err)
		return
	}
	c.tb.Logf("The same draws fail with a smaller plan. The fail file is played with it from now "+
		"on, by %s", name)
}

// firstThatFails is the first run with a plainer plan that fails in the same way, nil if there is
// none.
func (c *checker) firstThatFails(best *played, bits []byte, tries *int) *played {
	for _, plan := range smallerPlans(best.plan, best.servers) {
		if *tries++; *tries > mostTries || c.now().Sub(c.gained) > patience {
			return nil
		}
		p, _ := c.again(bits, func(uint64, []fault.Fault) []fault.Fault { return plan })
		if p != nil && p.failure != nil &&
			p.failure.place == c.last.failure.place &&
			p.failure.reported == c.last.failure.reported &&
			(!p.failure.reported || p.failure.value == c.last.failure.value) {
			return p
		}
	}
	return nil
}

// again plays the draws of a fail file with a plan of choice. The run is nil if that cannot be
// done. fits is false if the body draws more than the file has: then rapid calls the file invalid.
func (c *checker) again(
	bits []byte, choose func(seed uint64, drawn []fault.Fault) []fault.Fault,
) (p *played, fits bool) {
	done, test := make(chan struct{}), new(testing.T)
	go func() {
		defer close(done)
		// After an error that was reported rapid ends the goroutine, or panics for want of a test.
		defer func() { _ = recover() }()
		rapid.MakeFuzz(func(rt *rapid.T) {
			p = c.play(rt, choose)
			if f := p.failure; f != nil && f.isSkip() {
				panic(f.value)
			}
		})(test, bits)
	}()
	<-done
	return p, !test.Skipped()
}

// nameInvalid logs which fail files rapid has called invalid, and the command that removes them.
func (c *checker) nameInvalid() {
	var files []string
	for _, name := range failFiles(c.name) {
		bits, err := drawsOf(name)
		if err != nil {
			continue // rapid has said so
		}
		if _, fits := c.again(bits, c.chosen); fits {
			continue
		}
		for _, file := range []string{name, planBeside(name)} {
			if full, err := filepath.Abs(file); err == nil {
				file = full
			}
			if _, err := os.Stat(file); err == nil {
				files = append(files, saved.ShellWord(file))
			}
		}
	}
	if len(files) > 0 {
		c.tb.Logf("zksim: these fail files test nothing any more: the test does not fail with their "+
			"draws, and wants more than they have. That alone does not tell whether the bug is mended: "+
			"if it is, the test goes on past it; if the test draws otherwise than before, the bug may "+
			"still be there. To remove the files: rm %s", strings.Join(files, " "))
	}
}

// planBeside is the file with the plan for a fail file.
func planBeside(name string) string { return strings.TrimSuffix(name, ".fail") + ".plan" }

// smallerPlans lists plans with one fault less, then plans with a plainer kind of one fault, and
// then each of several faults alone, at each of the first requests of each client.
func smallerPlans(plan []fault.Fault, servers int) (list [][]fault.Fault) {
	for i := range plan {
		list = append(list, slices.Delete(slices.Clone(plan), i, i+1))
	}
	for i, f := range plan {
		for _, info := range kinds(servers) {
			if info.Kind == f.Kind {
				break
			}
			other := f
			if other.Kind, other.Code = info.Kind, ""; !info.Lasts {
				other.For = 0
			} else if f.For == 0 {
				other.For = durations[len(durations)-1]
			}
			if other.Validate() == nil {
				next := slices.Clone(plan)
				next[i] = other
				list = append(list, next)
			}
		}
	}
	for n := 0; len(plan) > 1 && n < mostRequests*len(Clients()); n++ {
		for _, f := range plan {
			f.Client, f.Request = Clients()[n%len(Clients())], 1+n/len(Clients())
			f.At, f.Event = 0, 0
			list = append(list, []fault.Fault{f})
		}
	}
	return list
}

// givenFile is the fail file of -rapid.failfile, or "".
func givenFile() string {
	if f := flag.Lookup("rapid.failfile"); f != nil {
		return f.Value.String()
	}
	return ""
}

// failFiles are the fail files of a test, in the order in which rapid plays them.
func failFiles(test string) []string {
	names, _ := filepath.Glob(filepath.Join(failFolder(test), "*.fail")) // the pattern is right
	if given := givenFile(); given != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return name == given })
		names = slices.Insert(names, 0, given)
	}
	return names
}

// failFile is the fail file of the failure, and its draws as bytes: the first file that fails, in
// the order of rapid, which writes one if none does. The name is "" if there is none.
func (c *checker) failFile() (name string, bits []byte) {
	for _, name := range failFiles(c.name) {
		if bits, err := drawsOf(name); c.file == "" && err == nil {
			p, _ := c.again(bits, c.chosen)
			if p != nil && p.failure != nil && !p.failure.isSkip() {
				c.file, c.bits = name, bits
			}
		}
	}
	return c.file, c.bits
}

// drawsOf is what a fail file has drawn, as bytes.
func drawsOf(name string) (bits []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if draw, is := strings.CutPrefix(lines.Text(), "0x"); is {
			n, err := strconv.ParseUint(draw, 16, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			bits = binary.LittleEndian.AppendUint64(bits, n)
		}
	}
	return bits, lines.Err()
}

// failFolder is where rapid writes the fail files of a test.
func failFolder(test string) string {
	safe := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, test)
	return filepath.Join("testdata", "rapid", safe)
}

// text is the plan as a file.
func (p shrunkPlan) text() string {
	var b strings.Builder
	b.WriteString("# In place of the drawn faults of the fail file beside these are played.\n")
	fmt.Fprintf(&b, "seed: %d\n", p.seed)
	for _, f := range p.drawn {
		fmt.Fprintf(&b, "drawn: %s\n", f)
	}
	for _, f := range p.plan {
		fmt.Fprintf(&b, "fault: %s\n", f)
	}
	return b.String()
}

// loadShrunk reads the plans of earlier failures of a test, and the one beside a given fail file.
func loadShrunk(test string) (list []shrunkPlan, err error) {
	names, err := filepath.Glob(filepath.Join(failFolder(test), "*.plan"))
	if err != nil {
		return nil, err
	}
	beside := planBeside(givenFile())
	if _, err := os.Stat(beside); err == nil && givenFile() != "" &&
		!slices.Contains(names, beside) {
		names = append(names, beside)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := parseShrunk(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

func parseShrunk(text string) (p shrunkPlan, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var f fault.Fault
		switch {
		case key == "" || strings.HasPrefix(line, "#"):
			continue
		case key == "seed":
			p.seed, err = strconv.ParseUint(value, 10, 64)
		case key == "drawn" || key == "fault":
			f, err = fault.Parse(value)
		default:
			err = fmt.Errorf("%q; expected seed, drawn or fault", key)
		}
		if err != nil {
			return p, fmt.Errorf("line %d: %w", number, err)
		}
		switch key {
		case "drawn":
			p.drawn = append(p.drawn, f)
		case "fault":
			p.plan = append(p.plan, f)
		}
	}
	return p, nil
}
