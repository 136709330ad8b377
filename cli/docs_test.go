package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestCommandLinesOfThePagesParse: the command accepts each command line in README.md and the pages
// of docs.
func TestCommandLinesOfThePagesParse(t *testing.T) {
	for _, name := range pages(t) {
		for _, line := range commandLines(testrun.ReadFile(t, name)) {
			if err := parses(line); err != nil {
				t.Errorf("%s: %q: %v", filepath.Base(name), line, err)
			}
		}
	}
}

// pages returns the pages that show command lines.
func pages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../docs/*.md")
	check.OK(t, err)
	return append(names, "../README.md", "../CONTRIBUTING.md")
}

// knownNames returns the names of all commands and flags.
func knownNames(t *testing.T) map[string]bool {
	t.Helper()
	parser, err := kong.New(&commands{}, kong.Vars{"version": ""})
	check.OK(t, err)
	names := map[string]bool{}
	for _, command := range parser.Model.Leaves(false) {
		names[command.Name] = true
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				names[flag.Name] = true
			}
		}
	}
	return names
}

var (
	shownCommand = regexp.MustCompile(
		"(?m)(?:^ {4}|\x60)(?:go run \\./(?:cmd/zksim|examples/go/myzksim)|zksim)( " +
			"[^\x60\n]*)?(?:\x60|$)")
	endOfCommand = regexp.MustCompile(` {2,}.*| +#.*| >.*| &$`)
	argument     = regexp.MustCompile(`"[^"]*"|\S+`)
)

// commandLines returns the arguments of the command lines of a page: of lines of code,
// and of code within a text. Comments behind them are left out.
func commandLines(page string) []string {
	var lines []string
	for _, match := range shownCommand.FindAllStringSubmatch(page, -1) {
		if line := endOfCommand.ReplaceAllString(match[1], ""); line != "" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// placeholders are words of synopses, with a value for each.
var placeholders = strings.NewReplacer("[", "", "]", "", "...", "", "HOST:PORT", "127.0.0.1:0",
	"COMMAND", "list", "SHELL", "bash")

// parses returns an error if the command does not take a line of arguments.
func parses(line string) error {
	exited := false
	parser, err := kong.New(&commands{},
		kong.Exit(func(int) {
			exited = true
		}), kong.Vars{"version": ""}, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return err
	}
	var args []string
	for _, word := range argument.FindAllString(placeholders.Replace(line), -1) {
		if word == "N" {
			word = "1"
		}
		args = append(args, strings.Trim(word, `"`))
	}
	if args = withoutWords(args); len(args) == 1 { // the name of a command
		args = append(args, "--help")
	}
	_, err = parser.Parse(args)
	if exited { // --help or --version
		return nil
	}
	return err
}

// TestManualsListTheCommands: the documentation of package cli and docs/command.md have a line for
// each command.
func TestManualsListTheCommands(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars{"version": ""})
	check.OK(t, err)
	for _, name := range []string{"doc.go", "../docs/command.md"} {
		text := testrun.ReadFile(t, name)
		for _, command := range parser.Model.Leaves(false) {
			line := regexp.MustCompile("(?m)^(//\t|\\| `)zksim " + command.Name + `\b`)
			if !line.MatchString(text) {
				t.Errorf("%s has no line for zksim %s", name, command.Name)
			}
		}
	}
}

// TestFlagsOfThePagesExist: each flag in the text of a page is a flag of some command.
func TestFlagsOfThePagesExist(t *testing.T) {
	known := knownNames(t)
	known["only"] = true // of bench/report
	for _, name := range pages(t) {
		text := testrun.ReadFile(t, name)
		for _, match := range shownFlag.FindAllStringSubmatch(text, -1) {
			if !known[match[1]] {
				t.Errorf("%s: no command has a flag --%s", filepath.Base(name), match[1])
			}
		}
	}
}

var shownFlag = regexp.MustCompile("\x60--([a-z-]+)")

// TestTreeFileOfThePageLoads: the tree file in docs/command.md is valid.
func TestTreeFileOfThePageLoads(t *testing.T) {
	_, text, _ := strings.Cut(testrun.ReadFile(t, "../docs/command.md"), "```yaml\n")
	text, _, _ = strings.Cut(text, "```\n")
	if _, err := tree.Parse("docs/command.md", tree.YAML, []byte(text)); err != nil {
		t.Error(err)
	}
}

// TestLinesAboutReplaysWorkInTheirOrder: a reader of docs/command.md types them one by one.
func TestLinesAboutReplaysWorkInTheirOrder(t *testing.T) {
	_, text, _ := strings.Cut(testrun.ReadFile(t, "../docs/command.md"), "## Replay and diff\n\n")
	lines, _, _ := strings.Cut(text, "\n\n")
	script := "! exec sh lines.sh\nstderr 'making it small$'\nstdout 'then they differ'\n" +
		"exists found.html\n-- lines.sh --\n" + lines + "\n"
	file := filepath.Join(t.TempDir(), "page.txtar")
	check.OK(t, os.WriteFile(file, []byte(script), 0o666))
	testscript.Run(t, testscript.Params{Files: []string{file}})
}

// TestProofOfThePageIsCurrent: docs/hunting.md shows what the command prints.
func TestProofOfThePageIsCurrent(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(testrun.ReadFile(t, "../docs/hunting.md"), "    zksim prove")
	lines := strings.Split(text, "\n")
	e := zksim(t.Context(), "prove"+lines[0])
	e.has(t, 0, strings.TrimSpace(lines[2])+"\n")
}

// TestServedFilesOfThePageExist: a line of docs/command.md that loads a file comes after one that
// writes it.
func TestServedFilesOfThePageExist(t *testing.T) {
	written := map[string]bool{}
	for _, line := range commandLines(testrun.ReadFile(t, "../docs/command.md")) {
		for _, flag := range regexp.MustCompile(`--(load|dump) (\w+\.yaml)`).
			FindAllStringSubmatch(line, -1) {
			if flag[1] == "load" && !written[flag[2]] {
				t.Errorf("%s: nothing has written %s", line, flag[2])
			}
			written[flag[2]] = true
		}
	}
}
