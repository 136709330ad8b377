package zksim_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// mostReadme is the greatest length of README.md in bytes, without the table of faults: about two
// screens.
const mostReadme = 5950

func TestReadmeIsShort(t *testing.T) {
	page := testrun.ReadFile(t, "README.md")
	if n := len(page) - len(table(t, "README.md", "| kind | effect |")); n > mostReadme {
		t.Errorf("README.md has %d bytes; expected at most %d", n, mostReadme)
	}
}

// TestNewcomersPathIsShort: a newcomer reads the files of the path in one sitting.
func TestNewcomersPathIsShort(t *testing.T) {
	_, section, _ := strings.Cut(testrun.ReadFile(t, "ARCHITECTURE.md"), "## The newcomer's path\n")
	section, _, _ = strings.Cut(section, "\n## ")
	lines, files := 0, regexp.MustCompile(`\]\(([^)]+\.go)\)`).FindAllStringSubmatch(section, -1)
	for _, file := range files {
		lines += strings.Count(testrun.ReadFile(t, file[1]), "\n")
	}
	if len(files) != 7 || lines >= 1000 {
		t.Errorf("the newcomer's path has %d files with %d lines; expected 7 with fewer than 1,000",
			len(files), lines)
	}
}

// TestPagesBeginWithTheirPurpose: a page has a title, one paragraph on its purpose, and then the
// rest.
func TestPagesBeginWithTheirPurpose(t *testing.T) {
	purpose := regexp.MustCompile(`\A# [^\n]+\n\n[A-Za-z][^\n]*(\n[A-Za-z*\x60(][^\n]*)*[.:]\n\n`)
	for _, name := range pages(t) {
		if !purpose.MatchString(testrun.ReadFile(t, name)) {
			t.Errorf("%s does not begin with a title and a paragraph on what it is for", name)
		}
	}
}

// TestMessagesOfThePageExist: a user who looks for a message finds the words that the code has, and
// a test expects each message.
func TestMessagesOfThePageExist(t *testing.T) {
	const page = "docs/when-it-fails.md"
	var code, tests strings.Builder
	check.OK(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".txtar"):
			tests.WriteString(testrun.ReadFile(t, name))
		case strings.HasSuffix(name, ".go"):
			code.WriteString(testrun.ReadFile(t, name))
		}
		return err
	}))
	joined := regexp.MustCompile(`"\s*\+\s*"`)
	all := joined.ReplaceAllString(code.String(), "")
	expected := joined.ReplaceAllString(tests.String(), "")
	messages := 0
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(
		testrun.ReadFile(t, page), -1) {
		messages++
		for part := range strings.SplitSeq(row[1], "…") {
			if !strings.Contains(all, strings.TrimSpace(part)) {
				t.Errorf("%s: no code says %q", page, part)
			}
			if !strings.Contains(expected, strings.TrimSpace(part)) {
				t.Errorf("%s: no test expects %q", page, part)
			}
		}
	}
	if messages < 20 {
		t.Errorf("%s has %d messages; expected 20 or more", page, messages)
	}
}

// TestPublicPackagesHaveAPromise: the page of versions says of each whether it stays as it is.
// Those below fuzz and linearizability have a row together.
func TestPublicPackagesHaveAPromise(t *testing.T) {
	const page = "docs/versions.md"
	promises := testrun.ReadFile(t, page)
	together := regexp.MustCompile(`internal/|^(fuzz|linearizability|cmd|examples)/`)
	for _, name := range slices.Sorted(maps.Keys(arrows)) {
		if !together.MatchString(name) && !strings.Contains(promises, "`"+name+"`") {
			t.Errorf("%s does not say whether %s may change", page, name)
		}
	}
}

// TestLinksLeadSomewhere: every relative link names a file, and every anchor a heading
// of that file.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range append(pages(t), "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		text := withoutCode(testrun.ReadFile(t, name))
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			if err := follow(name, match[1]); err != nil {
				t.Errorf("%s: link to %s: %v", name, match[1], err)
			}
		}
	}
}

// follow returns an error if a link of a page leads nowhere.
func follow(page, target string) error {
	file, anchor, anchored := strings.Cut(target, "#")
	name := page
	if file != "" {
		name = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(name); err != nil || !anchored {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if known := anchors(string(text)); !slices.Contains(known, anchor) {
		return fmt.Errorf("no heading of %s has the anchor %q; expected one of %q", name,
			anchor, known)
	}
	return nil
}

// anchors returns the anchors that GitHub makes of the headings of a page.
func anchors(page string) []string {
	heading := regexp.MustCompile(`(?m)^#+ +(.*)$`)
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	count := map[string]int{}
	var list []string
	for _, match := range heading.FindAllStringSubmatch(withoutCode(page), -1) {
		anchor := strings.ReplaceAll(
			dropped.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-",
		)
		unique := anchor
		if n := count[anchor]; n > 0 {
			unique = fmt.Sprintf("%s-%d", anchor, n)
		}
		count[anchor]++
		list = append(list, unique)
	}
	return list
}

// TestPagesShowTestedCode: each Go block of a page is a snippet that is tested, letter
// by letter but for a common indent, and each snippet is on a page. TestTutorial and TestAnyGoPage
// take the whole files of their pages.
func TestPagesShowTestedCode(t *testing.T) {
	tested := map[string]bool{}
	for _, code := range snippets(t) {
		tested[code] = false
	}
	for _, name := range pages(t) {
		if name == "docs/tutorial.md" || name == "docs/any-go.md" {
			continue
		}
		for _, code := range blocks(testrun.ReadFile(t, name), "go") {
			if _, known := tested[code]; !known {
				t.Errorf(
					"%s shows code that is not in the snippets nor the example:\n%s", name,
					code,
				)
			}
			tested[code] = true
		}
	}
	for code, shown := range tested {
		if !shown {
			t.Errorf("no page shows the snippet\n%s", code)
		}
	}
}

// snippets returns the code between the markers of snippets_test.go, and the program of the
// example.
func snippets(t *testing.T) []string {
	marked := regexp.MustCompile(`(?ms)^(\t*)// snippet\n(.*?)\n\s*// end of snippet$`)
	var list []string
	for _, match := range marked.FindAllStringSubmatch(testrun.ReadFile(t, "snippets_test.go"), -1) {
		snippet := strings.ReplaceAll("\n"+match[2], "\n"+match[1], "\n")
		list = append(list, strings.TrimSpace(snippet)+"\n")
	}
	program := testrun.ReadFile(t, "examples/go/myzksim/main.go")
	return append(list, program[strings.Index(program, "package main\n"):])
}

// TestFaultLinesOfREADMEAreTaken: by serve, which knows no names of clients, and so in simulations.
func TestFaultLinesOfREADMEAreTaken(t *testing.T) {
	lines := regexp.MustCompile("`([^`\n]+ (request|event|at)=[^`\n]+)`").FindAllStringSubmatch(
		testrun.ReadFile(t, "README.md"), -1)
	check.Equal(t, len(lines) > 0, true, "there is a line")
	for _, line := range lines {
		f, err := fault.Parse(line[1])
		check.OK(t, err)
		server := fakezk.Start(t)
		check.OK(t, server.Inject(f))
		server.ClearFaults()
	}
}

// TestScenariosOfPagesParse: each scenario file that a page shows can be read.
func TestScenariosOfPagesParse(t *testing.T) {
	shown := blocks(testrun.ReadFile(t, "docs/scenarios.md"), "yaml")
	if len(shown) == 0 {
		t.Error("docs/scenarios.md shows no scenario")
	}
	for _, text := range shown {
		if _, err := saved.Parse("docs/scenarios.md", []byte(text), builtin.Find); err != nil {
			t.Error(err)
		}
	}
}

// TestTablesOfFaultKinds: the tables of README.md and docs/hunting.md say of each kind what the
// code says, in its order. With -update they are written anew.
func TestTablesOfFaultKinds(t *testing.T) {
	var solo, several []fault.KindInfo
	for _, kind := range fault.Kinds() {
		if kind.Kind.NeedsEnsemble() {
			several = append(several, kind)
		} else {
			solo = append(solo, kind)
		}
	}
	for _, c := range []struct {
		page, headings string
		kinds          []fault.KindInfo
		row            func(fault.KindInfo) string
	}{
		{"README.md", "| kind | effect |", solo, effectRow},
		{"docs/hunting.md", "| kind | effect |", several, effectRow},
		{"docs/hunting.md", whereHeadings, fault.Kinds(), whereRow},
	} {
		var want strings.Builder
		for _, kind := range c.kinds {
			want.WriteString(c.row(kind))
		}
		got := table(t, c.page, c.headings)
		if got == want.String() {
			continue
		}
		if !testrun.Update() {
			t.Errorf("%s; go test . -run TablesOfFaultKinds -update writes the rows\n%s", c.page,
				cmp.Diff(want.String(), got))
			continue
		}
		text := strings.Replace(testrun.ReadFile(t, c.page), got, want.String(), 1)
		testrun.WriteFile(t, c.page, text)
	}
}

// nameOf is a kind as a line has it, with D for a duration and CODE for an error.
func nameOf(kind fault.KindInfo) string {
	if kind.Lasts {
		return string(kind.Kind) + " D"
	}
	if kind.Kind.TakesCode() {
		return string(kind.Kind) + " CODE"
	}
	return string(kind.Kind)
}

func effectRow(kind fault.KindInfo) string {
	return fmt.Sprintf("| `%s` | %s |\n", nameOf(kind), kind.Meaning)
}

const whereHeadings = "| fault | `request=` | `event=` | `at=` | needs several servers | " +
	"`fakezk.Server` | [real server](real.md) | [your own ensemble](real.md#your-own-ensemble) |"

func whereRow(kind fault.KindInfo) string {
	row := "| `" + nameOf(kind) + "` |"
	for _, yes := range []bool{
		kind.OnRequest, kind.OnEvent, kind.OnTime, kind.Kind.NeedsEnsemble(),
		!kind.Kind.NeedsWorld(), realworld.Refuse(kind.Kind, false) == nil,
		realworld.Refuse(kind.Kind, true) == nil,
	} {
		row += map[bool]string{true: " yes |", false: " - |"}[yes]
	}
	return row + "\n"
}

// TestTablesListAllThereIs: each table has all things of its kind, and no other. Those of
// docs/hunting.md have them in their order.
func TestTablesListAllThereIs(t *testing.T) {
	var kinds, refused, strategies []string
	for _, kind := range fault.Kinds() {
		kinds = append(kinds, string(kind.Kind))
		if realworld.Refuse(kind.Kind, false) != nil {
			refused = append(refused, string(kind.Kind))
		}
	}
	for _, s := range hunt.Strategies() {
		strategies = append(strategies, s.Name)
	}
	packages := append(slices.Collect(maps.Keys(arrows)), "fuzz/real") // which has tests only
	for _, c := range []struct {
		page, headings string
		want           []string
	}{
		{"docs/hunting.md", "| kind | in real life |", kinds},
		{"docs/hunting.md", "| strategy | tries |", strategies},
		{"docs/hunting.md", "| property | meaning |", linearizability.Properties()},
		{"docs/real.md", "| kind | why a real server cannot have it |", refused},
		{"docs/server.md", "| operations | compared with " + conform.Version + " | remarks |",
			conform.Operations()},
		{"ARCHITECTURE.md", "| package | one job | must not know |", packages},
	} {
		got := listed(t, c.page, c.headings)
		if c.page != "docs/hunting.md" {
			slices.Sort(got)
			slices.Sort(c.want)
		}
		check.Diff(t, got, c.want, "%s, %s", c.page, c.headings)
	}
}

// listed returns the words in the first cells of a table, without backquotes and commas.
func listed(t *testing.T, page, headings string) (words []string) {
	t.Helper()
	for row := range strings.Lines(table(t, page, headings)) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		words = append(words, strings.FieldsFunc(cell, func(r rune) bool {
			return strings.ContainsRune(" ,`", r)
		})...)
	}
	return words
}

// TestTrackRecordAddsUp: the totals of the page are those of its tables.
func TestTrackRecordAddsUp(t *testing.T) {
	const page = "docs/track-record.md"
	const bugs = "| library | what goes wrong for its users | smallest plan | cause | known or new | "
	count := func(rows, pattern string) int {
		return len(regexp.MustCompile("(?m)"+pattern).FindAllString(rows, -1))
	}
	const row, library, isNew = `^\|`, `^\| [^ |]`, `\| (the cause is )?new\b`
	run := table(t, page, bugs+"confirmed | scenario |")
	all := run + table(t, page, bugs+"confirmed |") + table(t, page, bugs+"exhibit |")
	libraries := count(table(t, page, "| library | last version with the bugs | of |"), row)
	of := regexp.MustCompile(`(?m)^\| bugs: .*\n`).FindAllString(testrun.ReadFile(t, page), -1)
	check.Diff(t, strings.Join(of, ""), fmt.Sprintf(
		"| bugs: run as they are | %d in %d libraries, %d of them new, %d confirmed |\n"+
			"| bugs: with those of the two tables below | %d in %d libraries, %d of them new |\n",
		count(run, row), libraries, count(run, isNew), count(run, `\| yes\b`), count(all, row),
		libraries+count(all, library)-count(run, library), count(all, isNew)))
}

// TestManualOfReportsListsTheProperties, in their order.
func TestManualOfReportsListsTheProperties(t *testing.T) {
	_, comment, _ := strings.Cut(testrun.ReadFile(t, "linearizability/doc.go"), "# The report\n")
	comment, _, _ = strings.Cut(comment, "\n// # ")
	var shown []string
	for _, match := range regexp.MustCompile(`(?m)^//\t(\w+)`).FindAllStringSubmatch(comment, -1) {
		shown = append(shown, match[1])
	}
	check.Diff(t, shown, linearizability.Properties(), "linearizability/doc.go")
}

// TestArchitectureNamesTests: the tests that ARCHITECTURE.md names are there.
func TestArchitectureNamesTests(t *testing.T) {
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		for _, match := range declared.FindAllStringSubmatch(testrun.ReadFile(t, name), -1) {
			there[match[1]] = true
		}
		return nil
	})
	check.OK(t, err)
	named := regexp.MustCompile("`(Test[A-Z]\\w+)`")
	for _, match := range named.FindAllStringSubmatch(testrun.ReadFile(t, "ARCHITECTURE.md"), -1) {
		if !there[match[1]] {
			t.Errorf("ARCHITECTURE.md names %s, which is no test", match[1])
		}
	}
}

// table returns the rows below a line of headings.
func table(t *testing.T, page, headings string) string {
	t.Helper()
	_, rest, found := strings.Cut(testrun.ReadFile(t, page), headings+"\n")
	if !found {
		t.Fatalf("%s has no table with the headings %s", page, headings)
	}
	_, rows, _ := strings.Cut(rest, "\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	return strings.TrimSuffix(rows, "\n") + "\n"
}

// pages returns README.md and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("docs/*.md")
	check.OK(t, err)
	return append(names, "README.md")
}

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks returns the fenced blocks of a language.
func blocks(page, language string) []string {
	var list []string
	for _, match := range fenced.FindAllStringSubmatch(page, -1) {
		if match[1] == language {
			list = append(list, match[2])
		}
	}
	return list
}

// withoutCode returns a page without its fenced blocks, in which # begins no heading.
func withoutCode(page string) string { return fenced.ReplaceAllString(page, "") }
