package saved

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// Test is a test of go test that plays a workload: it knows the code that a file is about.
type Test struct {
	Name    string // as testing.TB has it, such as TestMyLock/fast
	Package string // its import path, "" if unknown
	Tags    string // the build tags of its program, with commas between
}

// TestOf is the test with a name in the program that runs.
func TestOf(name string) Test {
	t := Test{Name: name}
	info, ok := debug.ReadBuildInfo()
	if !ok || !testing.Testing() {
		return t
	}
	path := strings.TrimSuffix(info.Path, ".test") // which that of a package main does not have
	if path != "command-line-arguments" {          // as go test FILE... calls its package
		t.Package = path
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			t.Tags = s.Value
		}
	}
	return t
}

// overlayTag is the build tag of a program that zksim go has built.
const overlayTag = "zksim_overlay"

// Command is the line for a shell that runs the test with more flags. With an import path it works
// in each directory of the module. Flags with file names are those of the test: they are relative
// to the directory of its package.
func (t Test) Command(flags ...string) string {
	goTest, tags := "go test", []string{}
	for tag := range strings.SplitSeq(t.Tags, ",") {
		switch tag {
		case "":
		case overlayTag:
			goTest = "zksim go test"
		default:
			tags = append(tags, tag)
		}
	}
	words := []string{goTest}
	if len(tags) > 0 {
		words = append(words, "-tags="+ShellWord(strings.Join(tags, ",")))
	}
	if t.Package != "" {
		words = append(words, ShellWord(t.Package))
	}
	words = append(words, "-run "+quoted(t.Pattern()))
	for _, flag := range flags {
		words = append(words, ShellWord(flag))
	}
	return strings.Join(words, " ")
}

// Pattern is the value of -run that selects the test and no other.
func (t Test) Pattern() string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name), "/", "$/^") + "$"
}

// ShellWord is a text as a shell reads it, in quotes if need be.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return quoted(text)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=+:,@%-]+$`)

func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ElsewhereError is the error of Load for a file with a workload that find does not know, but a
// test does.
type ElsewhereError struct {
	Test Test
	Err  error // of find, with the place in the file
}

func (e *ElsewhereError) Error() string { return e.Err.Error() }

func (e *ElsewhereError) Unwrap() error { return e.Err }

var (
	importPath = regexp.MustCompile(`^[A-Za-z0-9_~+-][A-Za-z0-9_~+.-]*(/[A-Za-z0-9_~+-][A-Za-z0-9_~+.-]*)*$`)
	tagList    = regexp.MustCompile(`^[\pL\pN_.]+(,[\pL\pN_.]+)*$`)
)

// test is the test that the file names. The command passes it to go.
func (p *parser) test() (Test, error) {
	t := Test{Name: p.form.Test, Package: p.form.Package, Tags: p.form.Tags}
	switch {
	case t.Package != "" && (!importPath.MatchString(t.Package) || t.Package[0] == '-'):
		return t, p.wrong("package", "package: %q; expected an import path", t.Package)
	case t.Tags != "" && !tagList.MatchString(t.Tags):
		return t, p.wrong("tags", "tags: %q; expected build tags with commas between", t.Tags)
	case t.Name == "" && t.Package+t.Tags != "":
		return t, fmt.Errorf("%s: test is missing: package and tags go with it", p.name)
	}
	return t, nil
}
