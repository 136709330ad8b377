package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/scenario"
)

// drawFinding writes the picture of a finding to the directory of --html, "" for none, and returns
// the name of the file. scenarioFile is the saved finding; without one its scenario is written
// beside the picture, so that the page can name the command that repeats it.
func (a *app) drawFinding(
	o *scenario.Outcome, dir, scenarioFile string, quiet bool,
) (string, error) {
	if dir == "" {
		return "", nil
	}
	base := filepath.Join(dir, scenarioName(o))
	if scenarioFile == "" {
		if err := a.fileOf(o).Save(base); err != nil {
			return "", fmt.Errorf("--html: %w", err)
		}
		scenarioFile = base
	}
	name := strings.TrimSuffix(base, ".yaml") + ".html"
	if err := picture.Save(name, o, a.Repeat(scenarioFile)); err != nil {
		return "", fmt.Errorf("--html: %w", err)
	}
	if !quiet {
		a.Printf("the picture: %s\n", name)
	}
	return name, nil
}
