package conform

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestAnswersAreThoseRecorded plays each script on a built-in server of its own. Where there is no
// ZooKeeper to compare with, the recorded answers stand for it: TestFamiliesAgainstZooKeeper shows
// that a real server gives the same ones.
func TestAnswersAreThoseRecorded(t *testing.T) {
	text := testrun.ReadFile(t, "testdata/null-watches.txt")
	const alone = "null-watches" // only built-in servers play them
	spoiling, err := parseFamily(alone, text)
	check.OK(t, err)
	for _, family := range append(Families(), alone) {
		scripts := fixedScripts()[family]
		if family == alone {
			scripts = spoiling
		}
		var got strings.Builder
		for _, s := range scripts {
			t.Run(family+"/"+s.name, func(t *testing.T) {
				if s.mark != "" {
					marks.Expect(t, s.mark)
				}
				synctest.Test(t, func(t *testing.T) { writeAnswers(t, &got, s) })
			})
		}
		testrun.Golden(t, "testdata/answers/"+family+".txt", got.String())
	}
}

func writeAnswers(t *testing.T, out *strings.Builder, s script) {
	inYearOfZooKeeper()
	opts := settings
	if slices.Contains(hasty, s.family) {
		opts, _ = fastSettings()
	}
	server := fake(t, opts)
	server.patience = defaultPatience
	c, err := newCleaner(t.Context(), server, true)
	check.OK(t, err)
	defer c.close(t.Context())
	p, err := c.player(t.Context(), s, c.session)
	check.OK(t, err)
	fmt.Fprintf(out, "== %s\n", s.name)
	var all outcome // of the steps of one line
	for i, step := range s.steps {
		seen, err := p.play(t.Context(), step)
		check.OK(t, err)
		all = append(all, seen...)
		if i+1 == len(s.steps) || s.steps[i+1].number != step.number {
			fmt.Fprintln(out, step.line+shortened(all))
			all = nil
		}
	}
	seen, err := p.end(t.Context())
	check.OK(t, err)
	fmt.Fprintf(out, "end, with the sum %08x\n", sum(strings.Join(seen, "\n")))
}

// shortened is an outcome without what says nothing: the answer to a ping repeats a zxid, most
// sessions are ordinary ones. Of much the sum is enough.
func shortened(all outcome) string {
	const ordinary = "connected: version 0, timeout 30000, the next session of server 1, " +
		"its password, read-only byte false"
	text, zxid := "", ""
	for _, line := range all {
		_, before, _ := strings.Cut(line, "zxid ")
		before, _, _ = strings.Cut(before, ",")
		if line != ordinary && !(strings.Contains(line, "ping: xid -2") && before == zxid) {
			text += "\n  " + line
		}
		zxid = before
	}
	if len(text) > 1000 {
		return fmt.Sprintf("\n  %d bytes with the sum %08x", len(text), sum(text))
	}
	return text
}

func sum(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
