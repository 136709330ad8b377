package overlay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestAnyGo runs testdata/service, in a module of its own, by zksim go test.
func TestAnyGo(t *testing.T) {
	if !testrun.Full() {
		t.Skip("compiles the standard library")
	}
	dir := serviceModule(t)
	zksim := filepath.Join(t.TempDir(), "zksim")
	output(t, "../..", nil, "go", "build", "-o", zksim, "./cmd/zksim")

	output(t, dir, nil, zksim, "go", "test", "-run", "TimePasses", "-count=1", ".")
	if _, err := run(dir, nil, "go", "test", "-run", "TimePasses", "-count=1", "."); err == nil {
		t.Error("it passes without the overlay")
	}

	want := map[string]string{}
	for _, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=2", "GOMAXPROCS=4"} {
		got := hashes(t, output(t, dir, []string{env},
			zksim, "go", "test", "-run", "TestHashes", "-count=1", "-v", "."))
		for seed, all := range got {
			if len(all) != 1 || want[seed] != "" && want[seed] != all[0] {
				t.Errorf("%s: seed %s gives %s, before %s", env, seed, all, want[seed])
			}
			want[seed] = all[0]
		}
	}
	if len(want) != 2 || want["1"] == want["2"] {
		t.Errorf("hashes by seed: %v", want)
	}
	plain := hashes(t, output(t, dir, nil, "go", "test", "-run", "TestHashes$", "-count=1", "-v",
		"."))
	if len(plain["1"]) < 2 {
		t.Errorf("without the overlay seed 1 gives %s only", plain["1"])
	}
}

// TestAnyGoWithOtherFlags: the race detector, vendored modules, workspaces, tags and overlays.
func TestAnyGoWithOtherFlags(t *testing.T) {
	if !testrun.Full() {
		t.Skip("compiles the standard library")
	}
	dir := serviceModule(t)
	zksim := filepath.Join(t.TempDir(), "zksim")
	output(t, "../..", nil, "go", "build", "-o", zksim, "./cmd/zksim")
	write(t, filepath.Join(dir, "tagged_test.go"), "//go:build tagged\n\npackage service\n\n"+
		"import \"testing\"\n\nfunc TestTagged(t *testing.T) { t.Log(word) }\n")
	write(t, filepath.Join(dir, "word_test.go"), "package service\n\nvar word = \"plain\"\n")
	write(t, filepath.Join(dir, "other.txt"), "package service\n\nvar word = \"overlaid\"\n")
	write(t, filepath.Join(dir, "other.json"), `{"Replace": {"word_test.go": "other.txt"}}`)
	text := output(t, dir, []string{"GOFLAGS=-tags=tagged -mod=mod"},
		zksim, "go", "test", "-overlay", "other.json", "-run", "Tagged|TimePasses", "-v", ".")
	if !strings.Contains(text, "overlaid") {
		t.Errorf("the tag or the overlay is lost:\n%s", text)
	}
	output(t, dir, nil, zksim, "go", "test", "-cover", "-run", "TimePasses", ".")
	output(t, dir, nil, zksim, "go", "vet", ".")
	output(t, dir, nil, "go", "mod", "vendor")
	output(t, dir, []string{"GOFLAGS=-mod=vendor"}, zksim, "go", "test", "-run", "TimePasses", ".")
	check.OK(t, os.RemoveAll(filepath.Join(dir, "vendor")))
	output(t, dir, nil, "go", "work", "init", ".")
	output(t, dir, []string{"GOFLAGS="},
		zksim, "go", "test", "-race", "-run", "TimePasses|Hashes", ".")
	if text, err := run(dir, nil, zksim, "go", "test", "-run", "NONE", "./nothing"); err == nil {
		t.Errorf("the exit status of go is lost:\n%s", text)
	}
}

// serviceModule makes a module of testdata/service, with the requirements of this one.
func serviceModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	check.OK(t, err)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		check.OK(t, err)
		return string(text)
	}
	_, requirements, _ := strings.Cut(read("go.mod"), "\n")
	write(t, filepath.Join(dir, "go.mod"), "module example.com/service\n"+requirements+
		"\nrequire github.com/zksim/zksim v0.0.0\n\nreplace github.com/zksim/zksim => "+root+"\n")
	write(t, filepath.Join(dir, "go.sum"), read("go.sum"))
	write(t, filepath.Join(dir, "service_test.go"),
		read("internal/overlay/testdata/service/service_test.go"))
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	check.OK(t, os.WriteFile(name, []byte(text), 0o666))
}

// output is the output of a command, which must succeed.
func output(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	text, err := run(dir, env, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return text
}

func run(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod"), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// hashes lists the different hashes of each seed in an output.
func hashes(t *testing.T, text string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "hash of seed "); ok {
			seed, hash, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			if !slices.Contains(found[seed], hash) {
				found[seed] = append(found[seed], hash)
			}
		}
	}
	return found
}
