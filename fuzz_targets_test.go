package zksim_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// nativeTarget is a fuzz target that calls f.Fuzz, in the internal tests of a package.
var nativeTarget = regexp.MustCompile(`(?s)\nfunc Fuzz\w+\(f \*testing\.F\) .*\n\tf\.Fuzz\(`)

// externalTest is a test file of a package of its own, whose target a user would write like that.
var externalTest = regexp.MustCompile(`(?m)^package \w+_test$`)

// TestFuzzTargetsNeedNoOtherTests: a builder of libFuzzer binaries, such as that of OSS-Fuzz,
// compiles a package with the file of a target, and without other test files. A script may rename
// those that begin with fuzz_.
func TestFuzzTargetsNeedNoOtherTests(t *testing.T) {
	files := filesWithTargets(t)
	if len(files) < 8 {
		t.Errorf("found the targets of %v only", files)
	}
	for _, file := range files {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			renamed, err := filepath.Glob(filepath.Join(filepath.Dir(file), "fuzz_*_test.go"))
			check.OK(t, err)
			buildWith(t, append(renamed, file))
			if len(renamed) > 0 { // for a target of another package
				buildWith(t, renamed)
			}
		})
	}
}

// buildWith builds a package as if some of its test files were none.
func buildWith(t *testing.T, files []string) {
	t.Helper()
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	check.OK(t, os.WriteFile(overlay, noTests(t, files), 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay,
		"./"+filepath.Dir(files[0]))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with %v: %v\n%s", files, err, out)
	}
}

// noTests is an overlay for go build that has test files under other names.
func noTests(t *testing.T, files []string) []byte {
	t.Helper()
	root, err := os.Getwd()
	check.OK(t, err)
	replace := map[string]string{}
	for _, file := range files {
		added := strings.TrimSuffix(file, "_test.go") + "_target.go"
		replace[filepath.Join(root, added)] = filepath.Join(root, file)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	check.OK(t, err)
	return text
}

// filesWithTargets are the test files of this module with a target that calls f.Fuzz.
func filesWithTargets(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") || name == "fuzz_targets_test.go" {
			return err
		}
		text, err := os.ReadFile(name)
		if nativeTarget.Match(text) && !externalTest.Match(text) {
			files = append(files, name)
		}
		return err
	})
	check.OK(t, err)
	return files
}
