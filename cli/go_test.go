package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestGoArgsKeepWhatTheyDoNotChange(t *testing.T) {
	tests := []struct{ args, goflags, want string }{
		{"test ./...", "", "test -overlay=O -tags=T ./..."},
		{"test -tags=a,b -race -count 2 . -run X", "-tags=c -mod=mod",
			"test -overlay=O -tags=a,b,T -race -count 2 . -run X"},
		{"build -tags a -o x", "", "build -overlay=O -tags=a,T -o x"},
		{"vet -C dir .", "-tags=c", "vet -C dir -overlay=O -tags=c,T ."},
		{"test . -args -tags x", "", "test -overlay=O -tags=T . -args -tags x"},
		{"run -race . -tags x", "", "run -overlay=O -tags=T -race . -tags x"},
		{"run -exec e -overlay=o . -- -C x", "", "run -overlay=O -tags=T -exec e . -- -C x"},
		{"list -f {{.Dir}} -tags a ./...", "", "list -overlay=O -tags=a,T -f {{.Dir}} ./..."},
		{"install ./cmd/x", "", "install -overlay=O -tags=T ./cmd/x"},
		{"generate -run x .", "", "generate -overlay=O -tags=T -run x ."},
		{"test -overlay o", "-overlay=p", "test -overlay=O -tags=T"},
	}
	for _, test := range tests {
		user := parseGoArgs(strings.Fields(test.args))
		user.addDefaults(strings.Fields(test.goflags))
		check.Equal(t, strings.Join(user.with("O", "T"), " "), test.want,
			"%s", test.args)
	}
	user := parseGoArgs(strings.Fields("test -race --overlay o -coverprofile=c -cover"))
	if user.overlay != "o" || strings.Join(user.kinds, " ") != "race cover" {
		t.Errorf("overlay %q, kinds %q", user.overlay, user.kinds)
	}
}

// TestToolchainsOfTheModuleCacheGetALink, as the go command refuses to replace files there.
func TestToolchainsOfTheModuleCacheGetALink(t *testing.T) {
	cache, modules := t.TempDir(), t.TempDir()
	root := filepath.Join(modules, "toolchain")
	env := goSettings{GOROOT: root, GOMODCACHE: modules}
	for range 2 {
		link, err := visibleRoot(env, cache)
		check.OK(t, err)
		if to, err := os.Readlink(link); err != nil || to != root ||
			!strings.HasPrefix(link, cache) {
			t.Errorf("%s leads to %s, %v; want %s", link, to, err, root)
		}
	}
	env.GOMODCACHE = cache
	if got, err := visibleRoot(env, cache); err != nil || got != root {
		t.Errorf("outside of the module cache: %s, %v", got, err)
	}
}
