package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// ownTests are the tests of the module that ownModule makes.
//
//go:embed testdata/own_test.go.txt
var ownTests string

// ownModule measures the tests of a module that requires this one, as users have it: nobody sets
// the collector there.
func ownModule(l *runner) (string, error) {
	tests, err := l.buildOwnModule()
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, t := range []struct{ name, shard string }{
		{"Lock", ""}, {"Queue", ""}, {"Registry", "1/20"},
	} {
		args := []string{"-test.run", "^Test" + t.name + "$"}
		row := []string{strings.ToLower(t.name)}
		if t.shard != "" {
			args = append(args, "-zksim.shard="+t.shard)
			row[0] += ", shard " + t.shard
		}
		for _, env := range []string{"GOGC=100", "GOGC=1600"} {
			u, err := l.usageOf(env, tests, args...)
			if err != nil {
				return "", err
			}
			row = append(row, u.user, u.system, u.peak)
		}
		rows = append(rows, row)
	}
	return paragraph("`fuzz.Test` of recipes in a module of its own, with the flags of `go test` "+
		"as they are: three clients, two rounds, every fault point and 300 scenarios, each of "+
		"these twice. Processor time of the test binary, in user and in system mode, and its "+
		"memory at the highest: with the collector as Go has it, and beside it with GOGC=1600.") +
		commandBlock("go run -C bench ./report --only own-module") +
		table([]string{"test", "user s", "system s", "MB at most", "tuned: user s", "system s",
			"MB at most"}, rows), nil
}

// usage is what a process has used, as text.
type usage struct{ user, system, peak string }

// usageOf runs a program that must succeed.
func (l *runner) usageOf(env, program string, args ...string) (usage, error) {
	fmt.Fprintln(l.log, env, filepath.Base(program), strings.Join(args, " "))
	cmd := exec.CommandContext(l.ctx, program, args...)
	cmd.Dir, cmd.Env = l.scratch, append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	seconds := func(d time.Duration) string { return figure.Significant(d.Seconds()) }
	peak := float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024
	return usage{seconds(cmd.ProcessState.UserTime()), seconds(cmd.ProcessState.SystemTime()),
		rounded(peak / 1e6)}, nil
}

// buildOwnModule makes the module in the scratch directory, and returns its test binary.
func (l *runner) buildOwnModule() (binary string, err error) {
	dir := filepath.Join(l.scratch, "own")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	files := map[string]string{"own_test.go": ownTests}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(l.root, name))
		if err != nil {
			return "", err
		}
		files[name] = string(text)
	}
	files["go.mod"] = requiring(files["go.mod"], l.root)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(l.scratch, "own.test")
	_, err = l.run("go", "test", "-C", dir, "-mod=mod", "-c", "-o", binary, ".")
	return binary, err
}

// moduleLine is the line of a go.mod file with the path of the module.
var moduleLine = regexp.MustCompile(`(?m)^module (.*)$`)

// requiring is the go.mod file of a module that requires another one, in a directory, with the
// modules that this one requires.
func requiring(goMod, dir string) string {
	path := moduleLine.FindStringSubmatch(goMod)[1]
	return moduleLine.ReplaceAllLiteralString(goMod, "module example.org/own") +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", path, path, dir)
}
