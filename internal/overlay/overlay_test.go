package overlay

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// goroot is that of the Go in use.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	check.OK(t, err)
	return strings.TrimSpace(string(out))
}

// TestEveryPlaceIsInThisGo also shows that a second call makes the same files, and that lines keep
// their numbers.
func TestEveryPlaceIsInThisGo(t *testing.T) {
	root, cache := goroot(t), t.TempDir()
	replace, err := Make(root, runtime.Version(), cache)
	check.OK(t, err)
	if again, err := Make(root, runtime.Version(), cache); err != nil ||
		!maps.Equal(again, replace) {
		t.Errorf("a second call: %v, %v", again, err)
	}
	for _, name := range slices.Sorted(maps.Keys(replace)) {
		text := testrun.ReadFile(t, replace[name])
		old, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if a, b := strings.Count(string(old), "\n"), strings.Count(text, "\n"); a != b {
			t.Errorf("%s has %d lines, before %d", name, b, a)
		}
	}
}

// TestAnotherGoIsRefused: one line names the version, the file and the place.
func TestAnotherGoIsRefused(t *testing.T) {
	root := copyOf(t, goroot(t))
	name := filepath.Join(root, "src", "net", "dial.go")
	text := testrun.ReadFile(t, name)
	changed := strings.ReplaceAll(text, ") DialContext(", ") DialWithContext(")
	testrun.WriteFile(t, name, changed)
	const want = "net/dial.go: the file has (*Dialer).DialContext 0 times, not once"
	_, err := Make(root, runtime.Version(), t.TempDir())
	if err == nil || err.Error() != runtime.Version()+": "+want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, version := range []string{"go1.25.3", "go1.99", "devel go1.30-abcdef", ""} {
		_, err := Make(root, version, t.TempDir())
		if err == nil || !strings.HasPrefix(err.Error(), version+" is not a Go release") {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// copyOf copies the files of a GOROOT that are edited.
func copyOf(t *testing.T, root string) string {
	t.Helper()
	to := t.TempDir()
	for _, e := range edits {
		text, err := os.ReadFile(filepath.Join(root, "src", e.file))
		if os.IsNotExist(err) {
			continue // of another release
		}
		check.OK(t, err)
		name := filepath.Join(to, "src", e.file)
		check.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		check.OK(t, os.WriteFile(name, text, 0o666))
	}
	return to
}

func TestEditsFindTheirPlaceOnce(t *testing.T) {
	const file = "package p\n\ntype t struct {\n\ta int\n}\n\nfunc f() {\n\tg(1)\n\tg(2)\n}\n\n" +
		"func (t *t) f() {\n\tg(3)\n}\n"
	tests := []struct {
		edit       edit
		want, fail string
	}{
		{edit{in: "f", find: "{", with: "h();"}, "func f() {\nh();\tg(1)", ""},
		{edit{in: "(*t).f", find: "}", with: "h()"}, "g(3)\nh()}", ""},
		{edit{in: "type t", find: "}", with: "b int"}, "a int\nb int}", ""},
		{edit{in: "f", find: "g(", times: 2, with: "k("}, "\tk(1)\n\tk(2)\n}", ""},
		{edit{in: "f", find: "g(", with: "k("}, "", `f has "g(" 2 times, not 1`},
		{edit{in: "f", find: "g(3)", with: "k("}, "", `f has "g(3)" 0 times, not 1`},
		{edit{find: "g(", times: 2, with: "k("}, "", `the file has "g(" 3 times, not 2`},
		{edit{in: "h", find: "{", with: "k()"}, "", "the file has h 0 times, not once"},
		{edit{in: "f", find: "g(1)", with: "g("}, "", "after the edit of f: "},
	}
	for _, test := range tests {
		got, err := test.edit.apply([]byte(file))
		switch {
		case test.fail == "" && (err != nil || !strings.Contains(string(got), test.want)):
			t.Errorf("%+v: %v\n%s", test.edit, err, got)
		case test.fail != "" && (err == nil || !strings.HasPrefix(err.Error(), test.fail)):
			t.Errorf("%+v: %v, want %s", test.edit, err, test.fail)
		}
	}
}

func TestAnotherOverlayIsMerged(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		t.Helper()
		name := filepath.Join(dir, "other.json")
		check.OK(t, os.WriteFile(name, []byte(text), 0o666))
		return name
	}
	ours := map[string]string{filepath.Join(dir, "a.go"): "ours"}
	name, err := Write(ours, write(`{"Replace": {"b.go": "theirs"}}`), dir)
	check.OK(t, err)
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), `"ours"`) ||
		!strings.Contains(string(text), `"b.go": "theirs"`) {
		t.Errorf("%v\n%s", err, text)
	}
	conflict := write(`{"Replace": {"` + filepath.ToSlash(filepath.Join(dir, "a.go")) + `": "x"}}`)
	if _, err := Write(ours, conflict, dir); err == nil ||
		!strings.Contains(err.Error(), "is replaced by zksim, too") {
		t.Errorf("a conflict: %v", err)
	}
	if _, err := Write(ours, write(`[]`), dir); err == nil {
		t.Error("a list is no overlay")
	}
}
