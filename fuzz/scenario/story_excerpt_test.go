package scenario_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// told is the excerpt in the story of a run with these lines, each an actor and a text, one a
// second.
func told(t *testing.T, r trace.Result, summary string, lines ...string) string {
	t.Helper()
	var list []trace.Line
	for i, l := range lines {
		actor, text, _ := strings.Cut(l, " ")
		list = append(list, trace.Line{
			At: trace.NewMoment(int64(i+1), 0, 0), Time: time.Duration(i) * time.Second,
			Actor: actor, Format: "%s", Args: []any{text},
		})
	}
	r.Trace = trace.New(list)
	o := scenario.Outcome{Result: &r}
	o.Report.Verdicts = []linearizability.Verdict{{
		Property: linearizability.Liveness, Status: linearizability.Violated, Summary: summary,
	}}
	_, excerpt, _ := strings.Cut(o.Story(), "who):\n\n")
	var short []string
	for line := range strings.Lines(excerpt) {
		var step, seconds, actor string
		if rest, marked := strings.CutPrefix(line, "      ... "); marked {
			short = append(short, "... "+strings.TrimSpace(rest))
			continue
		}
		fmt.Sscan(line, &step, &seconds, &actor)
		_, text, _ := strings.Cut(line, actor+" ")
		short = append(short, step+" "+actor+" "+strings.TrimSpace(text))
	}
	return strings.Join(short, "\n")
}

// repeated is a list of lines several times over. %d stands for the number of the line.
func repeated(times int, lines ...string) []string {
	var all []string
	for range times {
		for _, l := range lines {
			all = append(all, strings.ReplaceAll(l, "%d", fmt.Sprint(len(all)+1)))
		}
	}
	return all
}

func TestLinesThatAClientRepeatsAreFolded(t *testing.T) {
	for name, c := range map[string]struct {
		lines   []string
		summary string
		want    string
	}{
		"refused dials": {
			lines: append(repeated(50, "a dial %d refused"), "a calls lock"),
			want: "1 a dial 1 refused\n... a repeats its last line 49 times, up to step 50 " +
				"at 49.000s\n51 a calls lock",
		},
		"a poll, between the lines of another client": {
			lines: append(repeated(5, "a -> #%d exists /lock: ok, zxid 3", "b calls lock",
				"b lock fails: busy"), "a lock returns"),
			want: "1 a -> #1 exists /lock: ok, zxid 3\n" +
				"... a polls: it repeats its last line 4 times, up to step 13 at 12.000s\n" +
				"2 b calls lock\n3 b lock fails: busy\n" +
				"... b repeats its last 2 lines 4 times, up to step 15 at 14.000s\n" +
				"16 a lock returns",
		},
		"too few to fold": {
			lines: repeated(3, "a calls lock"),
			want:  "1 a calls lock\n2 a calls lock\n3 a calls lock",
		},
		"a step with a name": {
			lines: repeated(12, "a calls lock"), summary: "a's lock (steps 7 to 9) failed",
			want: "1 a calls lock\n... a repeats its last line 5 times, up to step 6 at 5.000s\n" +
				"7 a calls lock\n8 a calls lock\n9 a calls lock\n" +
				"... a repeats its last line 3 times, up to step 12 at 11.000s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := told(t, trace.Result{}, c.summary, c.lines...)
			check.Diff(t, got, c.want)
		})
	}
}

func TestNamedStepsAreShown(t *testing.T) {
	var lines []string
	for n := range 200 {
		lines = append(lines, fmt.Sprintf("a does thing %c%d", 'a'+n%26, n))
	}
	lines[99] = "a <- #7 exists: ok" // says little, but it has a name
	got := told(t, trace.Result{}, "a lied at step 100, and between steps 60 and 120", lines...)
	for _, want := range []string{
		"\n... 14 more lines of the trace\n60 a", "\n100 a <- #7 exists: ok\n", "\n120 a",
		"\n200 a",
	} {
		check.Contains(t, got, want)
	}
}

func TestStoriesShowShortData(t *testing.T) {
	write := func(step, zxid int64, kind trace.ChangeKind, path, data string) trace.Change {
		return trace.Change{Kind: kind, Step: step, Zxid: zxid, Path: path, Data: []byte(data)}
	}
	got := told(t, trace.Result{
		Requests: []trace.RequestPoint{
			{Step: 1, Op: "create", Path: "/q/n-"}, {Step: 3, Op: "setData", Path: "/b"},
			{Step: 5, Op: "getData", Path: "/b"}, {Step: 6, Op: "multi", Path: "/b"},
			{Step: 9, Op: "getData", Path: "/b"}, {Step: 10, Op: "getData", Path: "/none"},
			{Step: 11, Op: "getData", Path: "/b"},
		},
		Changes: []trace.Change{
			write(2, 1, trace.NodeCreated, "/q/n-0000000001", "x"),
			write(4, 2, trace.DataChanged, "/b", "9"),
			write(7, 3, trace.DataChanged, "/b", strings.Repeat("long ", 20)),
			write(8, 3, trace.NodeCreated, "/bb", "\x00\x01"),
		},
	}, "",
		"a -> #1 create sequential /q/n-: ok /q/n-0000000001, zxid 1",
		"server created /q/n-0000000001",
		"a -> #2 setData /b: ok, zxid 2",
		"server changed /b",
		"a -> #3 getData /b: ok, zxid 2",
		"a -> #4 multi (setData /b, create /bb): ok, zxid 3",
		"server changed /b",
		"server created /bb",
		"a -> #5 getData+watch /b: ok, zxid 3",
		"a -> #6 getData /none: NoNode, zxid 3",
		"b -> #1 getData /b: ok, zxid 2", // of a follower that is behind
	)
	want := `1 a -> #1 create sequential /q/n- "x": ok /q/n-0000000001, zxid 1
3 a -> #2 setData /b "9": ok, zxid 2
5 a -> #3 getData /b: ok "9", zxid 2
6 a -> #4 multi (setData /b (100 bytes), create /bb (2 bytes)): ok, zxid 3
9 a -> #5 getData+watch /b: ok (100 bytes), zxid 3
10 a -> #6 getData /none: NoNode, zxid 3
11 b -> #1 getData /b: ok "9", zxid 2`
	check.Diff(t, got, want)
}
