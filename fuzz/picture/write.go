package picture

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"

	"github.com/zksim/zksim/fuzz/scenario"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed layout.js
	layoutJS string
	//go:embed diagram.js
	diagramJS string
	//go:embed panel.js
	panelJS string
	//go:embed legend.js
	legendJS string
	//go:embed page.js
	pageJS string
)

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// page is the input of the template.
type page struct {
	run
	Story  string
	CSS    template.CSS
	Script template.JS
	Data   template.JS
}

// Save writes the picture of a run to a file, and makes its directory if there is none. repeat is
// the command that plays the run again, "" if there is none.
func Save(file string, o *scenario.Outcome, repeat string) error {
	text, err := draw(o, repeat)
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}

// draw is the page of a run.
func draw(o *scenario.Outcome, repeat string) ([]byte, error) {
	r := runOf(o)
	r.Repeat = repeat
	data, err := json.Marshal(r) // escapes <, > and &, so that no text ends the script
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, page{
		run: r, Story: o.Story(), CSS: template.CSS(pageCSS),
		Script: template.JS(layoutJS + diagramJS + panelJS + legendJS + pageJS),
		Data:   template.JS(data),
	})
	return b.Bytes(), err
}
