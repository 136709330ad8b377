package state

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestRulesArePure proves by the import list that no rule can read a clock, draw
// a number, start I/O or lock.
func TestRulesArePure(t *testing.T) {
	allowed := map[string]bool{
		"bytes": true, "fmt": true, "maps": true, "slices": true, "strconv": true, "strings": true,
		"crypto/sha1": true, "encoding/base64": true,
		"github.com/zksim/zksim/fakezk/internal/proto": true,
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !allowed[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
