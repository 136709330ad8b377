package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/overlay"
)

type goCommand struct {
	Args []string `arg:"" optional:"" passthrough:"" name:"subcommand" help:"test, run, build, vet, install, list or generate, and its arguments."`
}

// Help is the end of the help of the command.
func (c *goCommand) Help() string {
	return `zksim go runs the go command with an overlay: copies of some files of your Go's standard
library, in which goroutines, time, random numbers and dials within a simulated World
depend on its seed only. So the code under test runs as it is. Code outside of a World
runs as with plain go. Your Go, its files and your module stay as they are.

  zksim go test ARGS...    as go test
  zksim go run ARGS...     as go run
  zksim go build ARGS...   as go build
  zksim go vet ARGS...     as go vet

and so on for install, list and generate.

All arguments go to the go command: "zksim go test -h" prints its help.`
}

// goTakes are the subcommands of go that an overlay affects.
var goTakes = []string{"test", "run", "build", "vet", "install", "list", "generate"}

// Run runs the go command with an overlay of the user's own Go, in which the code under test runs
// unmodified in a World.
func (c *goCommand) Run(env *command.Env, line *kong.Context) error {
	if len(c.Args) > 0 && (c.Args[0] == "--help" || c.Args[0] == "-h") {
		return line.PrintUsage(false)
	}
	if len(c.Args) == 0 || !slices.Contains(goTakes, c.Args[0]) {
		return fmt.Errorf("go: expected one of %s, and its arguments", strings.Join(goTakes, ", "))
	}
	user := parseGoArgs(c.Args)
	settings, err := goEnv(user.dir)
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	user.addDefaults(strings.Fields(settings.GOFLAGS))
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("go: %w", err)
	}
	cache = filepath.Join(cache, "zksim", "overlay")
	root, err := visibleRoot(settings, cache)
	if err != nil {
		return fmt.Errorf("go: %w", err)
	}
	file, err := overlayFile(root, settings.GOVERSION, user, cache)
	if err != nil {
		return fmt.Errorf("go: no overlay of Go can be made: %w\n"+
			"Plain go works for code that takes a connection or a dialer, such as that of an Env",
			err)
	}
	if built := announce(env, file, user); built != nil {
		defer built()
	}
	return goRun(root, user.with(file, overlay.Tag))
}

// announce prints the cost of the first build. It returns a function to call after the build, or
// nil if there was a build before.
func announce(env *command.Env, file string, user goArgs) func() {
	mark := file + ".built" + strings.Join(user.kinds, "")
	_, err := os.Stat(mark)
	if err == nil || user.sub == "list" || user.sub == "generate" { // they build nothing
		return nil
	}
	fmt.Fprintf(env.Errors, "%s go: the first build compiles Go's standard library anew, once: "+
		"about 35 s on two cores\n", env.Name)
	return func() {
		// Without the mark the line is only printed again.
		_ = os.WriteFile(mark, nil, 0o666)
	}
}

// goSettings are settings of the go command.
type goSettings struct{ GOROOT, GOVERSION, GOFLAGS, GOMODCACHE string }

// goEnv asks the go command for its settings in a directory, "" for the current one.
func goEnv(dir string) (goSettings, error) {
	cmd := exec.Command("go", "env", "-json", "GOROOT", "GOVERSION", "GOFLAGS",
		"GOMODCACHE")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return goSettings{}, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	var env goSettings
	return env, json.Unmarshal(text, &env)
}

// visibleRoot is the GOROOT of a Go. The go command refuses to replace files below GOMODCACHE, the
// place of downloaded toolchains. For such a toolchain visibleRoot makes a link below a cache
// directory.
func visibleRoot(env goSettings, cache string) (string, error) {
	if !strings.HasPrefix(env.GOROOT, filepath.Clean(env.GOMODCACHE)+string(filepath.Separator)) {
		return env.GOROOT, nil
	}
	link := filepath.Join(cache, "goroot", filepath.Base(env.GOROOT))
	if to, err := os.Readlink(link); err == nil && to == env.GOROOT {
		return link, nil
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
		return "", err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return link, os.Symlink(env.GOROOT, link)
}

// overlayFile makes the overlay for a Go, and includes the user's own overlay.
func overlayFile(root, version string, user goArgs, cache string) (string, error) {
	replace, err := overlay.Make(root, version, cache)
	if err != nil {
		return "", err
	}
	other := user.overlay
	if other != "" && !filepath.IsAbs(other) {
		other = filepath.Join(user.dir, other)
	}
	return overlay.Write(replace, other, cache)
}

// goRun runs the go command of a GOROOT, and passes signals on to it.
func goRun(root string, args []string) error {
	cmd := exec.Command(filepath.Join(root, "bin", "go"), args...)
	cmd.Env = append(os.Environ(), "GOROOT="+root, "GOTOOLCHAIN=local")
	interrupted, err := runHere(cmd, func() time.Duration { return grace })
	var exit *exec.ExitError
	switch {
	case cmd.Process == nil:
		return fmt.Errorf("go: %w", err)
	case interrupted:
		return command.Status(command.ExitInterrupted)
	case errors.As(err, &exit):
		return command.Status(exit.ExitCode())
	}
	return err
}
