package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoRecipeLooksAtCountsOfChildren, as zksim prove promises; see hunt.Bounds. The one exhibit
// that does shows it in each run.
func TestNoRecipeLooksAtCountsOfChildren(t *testing.T) {
	t.Parallel()
	looks := regexp.MustCompile(`\.(NumChildren|Cversion|Pzxid)\b`)
	files := 0
	for _, dir := range []string{"recipes", "fuzz/builtin", "fuzz/gallery", "fuzz/object"} {
		root := filepath.Join("..", dir)
		err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				filepath.Base(name) == "retry_planted.go" {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			if found := looks.Find(text); found != nil {
				t.Errorf("%s has %s", name, found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files were read; expected some hundred", files)
	}
}
