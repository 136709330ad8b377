package testrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// ReadFile returns the text of a file.
func ReadFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	check.OK(t, err)
	return string(text)
}

// WriteFile writes a file, and makes its folder.
func WriteFile(t *testing.T, name, text string) {
	t.Helper()
	check.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
	check.OK(t, os.WriteFile(name, []byte(text), 0o666))
}

// Golden compares a text with that of a file, by lines. With -update it writes the file first.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	if Update() {
		WriteFile(t, name, got)
	}
	check.Diff(t, strings.Split(got, "\n"), strings.Split(ReadFile(t, name), "\n"), "%s", name)
}
