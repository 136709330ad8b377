// Package look has the flags of go test that show a failure in another way. Packages fuzz and
// property share them: a flag is defined once in a program.
package look

import (
	"flag"
	"os"
	"path/filepath"
)

var (
	HTML = flag.String("zksim.html", "",
		"zksim: directory to draw violations in, as HTML pages")
	Step = flag.Bool("zksim.step", false,
		"zksim: walk through the replayed run on the terminal")
	Until = flag.Int64("zksim.until", 0,
		"zksim: show the replayed run up to this line, and the world as it was then")
	Diff = flag.String("zksim.diff", "",
		"zksim: scenario file, or trace, to compare the replayed run with")
)

// Located finds a file by its path from the directory of the package, from a directory above it, or
// from the module's root. go test runs a test in the directory of its package, wherever go test was
// typed.
func Located(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	for dir := "."; ; dir = filepath.Join("..", dir) {
		at := filepath.Join(dir, name)
		if _, err := os.Stat(at); err == nil {
			return at
		}
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		abs, unknown := filepath.Abs(dir)
		if err == nil || unknown != nil || filepath.Dir(abs) == abs {
			return name
		}
	}
}
