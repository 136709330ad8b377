package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestCandidatesOfEachPlace on the command line.
func TestCandidatesOfEachPlace(t *testing.T) {
	for line, want := range map[string]string{
		"re":                             "replay",
		"help re":                        "replay",
		"ver":                            "version",
		"replay --st":                    "--step",
		"replay fi":                      "", // a file
		"replay --html ":                 "",
		"fuzz double":                    "double-barrier",
		"prove double":                   "double-barrier",
		"fuzz --seed 3 double":           "double-barrier",
		"fuzz lock --json --save d":      "",
		"fuzz lock --impl recipes.HerdL": "recipes.HerdLock",
		"fuzz --strategy ord":            "orders",
		"gallery vanished-pre":           "vanished-predecessor",
		"gallery A vanished-pre":         "vanished-predecessor",
		"check regi":                     "register registry",
		"check lock --format jep":        "jepsen",
		"completion ":                    "bash zsh fish",
		"go v":                           "vet",
		"nothing here":                   "",
	} {
		var stdout, stderr strings.Builder
		args := append([]string{"completion", "bash", "--"}, strings.Split(line, " ")...)
		program{name: "zksim"}.run(t.Context(), args, &stdout, &stderr)
		check.Equal(t, strings.Join(strings.Fields(stdout.String()), " "), want, line)
		check.Equal(t, stderr.String(), "", line)
	}
}

// TestShellsComplete with the scripts, as far as they are installed.
func TestShellsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "my-zksim")
	self, err := os.Executable()
	check.OK(t, err)
	check.OK(t, os.WriteFile(program, []byte("#!/bin/sh\n"+candidatesChild+"=1 exec "+self+
		" -test.run=^TestCandidatesChild$ -- \"$@\"\n"), 0o777))
	check.OK(t, os.WriteFile(filepath.Join(dir, "file.yaml"), nil, 0o666))
	ask := map[string]string{
		"bash": `source script; COMP_WORDS=(my-zksim replay --st) COMP_CWORD=2
			_my_zksim_complete; echo ${COMPREPLY[@]}`,
		"zsh": `compdef() { }; compadd() { shift; echo $@ }; _files() { echo files }; source script
			words=(my-zksim replay --st) CURRENT=3; _my_zksim_complete
			words=(my-zksim replay f) CURRENT=3; _my_zksim_complete`,
		"fish": `source script; complete -C 'my-zksim replay --st'; complete -C 'my-zksim replay fi'`,
	}
	want := map[string]string{
		"bash": "--step\n", "zsh": "--step\nfiles\n", "fish": "--step\nfile.yaml\n",
	}
	for shell, line := range ask {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		script := completionScript(shell, "my-zksim")
		check.OK(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o666))
		cmd := exec.CommandContext(t.Context(), shell, "-c", line)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		check.OK(t, err)
		check.Equal(t, string(out), want[shell], shell)
	}
}

const candidatesChild = "ZKSIM_CANDIDATES_CHILD"

// TestCandidatesChild is the program of TestShellsComplete.
func TestCandidatesChild(t *testing.T) {
	if os.Getenv(candidatesChild) == "" {
		t.Skip("for TestShellsComplete")
	}
	_, args, _ := strings.Cut(strings.Join(os.Args, "\n"), "\n--\n")
	os.Exit(program{name: "my-zksim"}.run(t.Context(), strings.Split(args, "\n"), os.Stdout,
		os.Stderr))
}
