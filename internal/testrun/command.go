package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// Command runs a command in a directory, with more variables of the environment. It returns whether
// it succeeds, and what it prints.
func Command(t *testing.T, dir string, env []string, args ...string) (ok bool, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return err == nil, string(out)
}

// Self runs this test binary, as Command does.
func Self(t *testing.T, dir string, env []string, flags ...string) (ok bool, text string) {
	t.Helper()
	binary, err := os.Executable()
	check.OK(t, err)
	return Command(t, dir, env, append([]string{binary}, flags...)...)
}

// Module writes files below a directory, and what makes them a module of a reader, who has the
// clone of this one at root. It is left out with -short: the reader builds programs.
func Module(t *testing.T, root, dir, path string, files map[string]string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	clone, err := filepath.Abs(root)
	check.OK(t, err)
	_, requirements, _ := strings.Cut(ReadFile(t, filepath.Join(clone, "go.mod")), "\n")
	WriteFile(t, filepath.Join(dir, "go.mod"), "module "+path+"\n"+requirements+
		"\nrequire github.com/zksim/zksim v0.0.0\n\nreplace github.com/zksim/zksim => "+clone+"\n")
	WriteFile(t, filepath.Join(dir, "go.sum"), ReadFile(t, filepath.Join(clone, "go.sum")))
	for name, text := range files {
		WriteFile(t, filepath.Join(dir, name), text)
	}
}
