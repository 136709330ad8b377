package picture

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

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

// Write writes the picture of a run. repeat is the command that plays it again, "" if there is
// none.
func Write(w io.Writer, o *scenario.Outcome, repeat string) error {
	r := runOf(o)
	r.Repeat = repeat
	data, err := json.Marshal(r) // escapes <, > and &, so that no text ends the script
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, page{
		run: r, Story: o.Story(), CSS: template.CSS(pageCSS),
		Script: template.JS(layoutJS + diagramJS + panelJS + legendJS + pageJS),
		Data:   template.JS(data),
	})
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	return nil
}
