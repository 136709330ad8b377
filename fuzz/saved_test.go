package fuzz_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// saved lists the scenario files that a test has left.
func saved(t *testing.T, test string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "zksim", test, "*"))
	check.OK(t, err)
	return names
}

// edit replaces a part of a file.
func edit(t *testing.T, name, old, new string) {
	t.Helper()
	data, err := os.ReadFile(name)
	check.OK(t, err)
	text := regexp.MustCompile(old).ReplaceAllString(string(data), new)
	if text == string(data) {
		t.Fatalf("%s is not in\n%s", old, data)
	}
	check.OK(t, os.WriteFile(name, []byte(text), 0o666))
}

// judgedBy is the workload of careless primaries with another judge.
func judgedBy(judge func(scenario.Evidence) (linearizability.Report, error)) scenario.Workload {
	w := primaries(true)
	w.Judge = judge
	return w
}

// failing leaves one saved failure of TestPrimary in a directory of its own.
func failing(t *testing.T) (file string) {
	t.Helper()
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "1")
	smallScript(t)
	text := fails(t, "TestPrimary", primaries(true))
	names := saved(t, "TestPrimary")
	if len(names) != 1 {
		t.Fatalf("saved: %q\n%s", names, text)
	}
	return names[0]
}

// TestSavedFailuresComeFirst: the saved scenario is tried before all others, unchanged.
func TestSavedFailuresComeFirst(t *testing.T) {
	file := failing(t)
	if !regexp.MustCompile(
		`^testdata/zksim/TestPrimary/invariant-[0-9a-f]{8}\.yaml$`,
	).MatchString(filepath.ToSlash(file)) {
		t.Errorf("saved as %s", file)
	}
	played, judge := 0, primaries(true).Judge
	fails(t, "TestPrimary", judgedBy(func(e scenario.Evidence) (linearizability.Report, error) {
		played++
		return judge(e)
	}), "-zksim.replay="+file)
	check.Equal(t, played, 1, "scenarios that are played; the saved one is the first")
	if names := saved(t, "TestPrimary"); len(names) != 1 {
		t.Errorf("%q are saved; want what was", names)
	}
}

// TestMendedFailuresStay without a message, and other failures are saved beside them.
func TestMendedFailuresStay(t *testing.T) {
	file := failing(t)
	other := func(e scenario.Evidence) (linearizability.Report, error) {
		return scenario.Invariants(
			scenario.Invariant{Name: "nothing is slow", Holds: func(e scenario.Evidence) error {
				if len(e.Plan) > 0 && e.Plan[0].Kind == fault.Delay {
					return errors.New("something is")
				}
				return nil
			}})(e)
	}
	mended := scenario.Invariants(scenario.Invariant{
		Name: "anything", Holds: func(scenario.Evidence) error { return nil },
	})
	text := passes(t, "TestPrimary", judgedBy(mended))
	check.Equal(t, strings.Contains(text, file), false)
	fails(t, "TestPrimary", judgedBy(other))
	if names := saved(t, "TestPrimary"); len(names) != 2 || names[0] != file && names[1] != file {
		t.Errorf("%q are saved; want %s and another", names, file)
	}
	testrun.SetFlag(t, "zksim.replay", file)
	passes(t, "TestPrimary", judgedBy(mended), "nothing is violated any more; the file may stay")
}

// TestSavedFailureThatStrikesNothingIsTold: such a file tests nothing.
func TestSavedFailureThatStrikesNothingIsTold(t *testing.T) {
	file := failing(t)
	edit(t, file, `drop-reply client=a .*`, "drop-reply client=a op=getACL request=7")
	saving, err := os.ReadFile(file)
	check.OK(t, err)
	absolute, err := filepath.Abs(file)
	check.OK(t, err)
	mended := scenario.Invariants(scenario.Invariant{
		Name: "anything", Holds: func(scenario.Evidence) error { return nil },
	})
	want := file +
		`: fault "drop-reply client=a op=getACL request=7" matches nothing in this run any more`
	passes(t, "TestPrimary", judgedBy(mended), "these saved failures test nothing any more", want,
		"to remove them: rm "+absolute)
	left := filepath.Join(filepath.Dir(file), "left-0.yaml")
	check.OK(t, os.Rename(file, left))
	text := passes(t, "TestPrimary", judgedBy(mended))
	check.Equal(t, strings.Contains(text, "to remove them"), false, "a file that the test removes")
	check.OK(t, os.WriteFile(file, saving, 0o666))
	testrun.SetFlag(t, "zksim.replay", file)
	fails(t, "TestPrimary", judgedBy(mended), want)
}

// TestSavedFailureThatCannotBeReadFails with its place.
func TestSavedFailureThatCannotBeReadFails(t *testing.T) {
	file := failing(t)
	for _, c := range []struct{ old, new, want string }{
		{`seed: \d+`, "seed: many", file + ":6:7: seed: found text; expected a whole number"},
		{
			`implementation: .*`, "implementation: other",
			file + `:3:17: workload primary has no implementation "other"; ` +
				`expected one of careless: true`,
		},
		{`(?s).*`, "frob", file + ":1:1: the scenario: found text"},
	} {
		edit(t, file, c.old, c.new)
		fails(t, "TestPrimary", primaries(true), c.want)
		if c.new != "frob" {
			edit(t, file, c.new, map[bool]string{
				true: "seed: 1", false: "implementation: 'careless: true'",
			}[c.new == "seed: many"])
		}
	}
}

// TestLongNamesAreSaved: the name of a test may be longer than that of a file.
func TestLongNamesAreSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	smallScript(t)
	for i, end := range []string{"one", "another"} {
		name := "TestPrimary/" + strings.Repeat("x", 300) + end
		text := fails(t, name, primaries(true))
		if dirs := saved(t, ""); len(dirs) != i+1 || strings.Contains(text, "could not be saved") {
			t.Errorf("saved: %q\n%s", dirs, text)
		}
	}
}

// TestSavedFileNamesTheCommandThatShowsIt: zksim does not know the test's workload.
func TestSavedFileNamesTheCommandThatShowsIt(t *testing.T) {
	file := failing(t)
	data, err := os.ReadFile(file)
	check.OK(t, err)
	want := "# A zksim scenario. Replay it with: go test github.com/zksim/zksim/fuzz " +
		"-run '^TestPrimary$' -zksim.replay=" +
		file + "\n"
	if !strings.HasPrefix(string(data), want) {
		t.Errorf("the file:\n%s\nwant %s", data, want)
	}
}

// TestFailureThatCannotBeSavedIsPrinted: here a file is in the place of the directory.
func TestFailureThatCannotBeSavedIsPrinted(t *testing.T) {
	t.Chdir(t.TempDir())
	smallScript(t)
	judge := primaries(true).Judge
	fails(t, "TestPrimary", judgedBy(func(e scenario.Evidence) (linearizability.Report, error) {
		inTheWay := filepath.Join("testdata", "zksim", "TestPrimary")
		if err := os.WriteFile(inTheWay, nil, 0o666); err != nil {
			return linearizability.Report{}, err
		}
		return judge(e)
	}), "it could not be saved: ", "# A zksim scenario.", "\nworkload: primary\n",
		"\nexpect: violated\n")
}
