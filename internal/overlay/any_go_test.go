package overlay_test

import (
	"os"
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
	if ok, _ := run(t, dir, nil, "go", "test", "-run", "TimePasses", "-count=1", "."); ok {
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
	testrun.WriteFile(t, filepath.Join(dir, "tagged_test.go"), "//go:build tagged\n\npackage service\n\n"+
		"import \"testing\"\n\nfunc TestTagged(t *testing.T) { t.Log(word) }\n")
	testrun.WriteFile(t, filepath.Join(dir, "word_test.go"), "package service\n\nvar word = \"plain\"\n")
	testrun.WriteFile(t, filepath.Join(dir, "other.txt"), "package service\n\nvar word = \"overlaid\"\n")
	testrun.WriteFile(t, filepath.Join(dir, "other.json"), `{"Replace": {"word_test.go": "other.txt"}}`)
	text := output(t, dir, []string{"GOFLAGS=-tags=tagged -mod=mod"},
		zksim, "go", "test", "-overlay", "other.json", "-run", "Tagged|TimePasses", "-v", ".")
	check.Contains(t, text, "overlaid")
	output(t, dir, nil, zksim, "go", "test", "-cover", "-run", "TimePasses", ".")
	output(t, dir, nil, zksim, "go", "vet", ".")
	output(t, dir, nil, "go", "mod", "vendor")
	output(t, dir, []string{"GOFLAGS=-mod=vendor"}, zksim, "go", "test", "-run", "TimePasses", ".")
	check.OK(t, os.RemoveAll(filepath.Join(dir, "vendor")))
	output(t, dir, nil, "go", "work", "init", ".")
	output(t, dir, []string{"GOFLAGS="},
		zksim, "go", "test", "-race", "-run", "TimePasses|Hashes", ".")
	if ok, text := run(t, dir, nil, zksim, "go", "test", "-run", "NONE", "./nothing"); ok {
		t.Errorf("the exit status of go is lost:\n%s", text)
	}
}

// serviceModule makes a module of testdata/service, with the requirements of this one.
func serviceModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testrun.Module(t, "../..", dir, "example.com/service", map[string]string{
		"service_test.go": testrun.ReadFile(t, "testdata/service/service_test.go"),
	})
	return dir
}

// output is the output of a command, which must succeed.
func output(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	ok, text := run(t, dir, env, args...)
	if !ok {
		t.Fatalf("%v fails:\n%s", args, text)
	}
	return text
}

func run(t *testing.T, dir string, env []string, args ...string) (ok bool, text string) {
	t.Helper()
	return testrun.Command(t, dir, append([]string{"GOFLAGS=-mod=mod"}, env...), args...)
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
