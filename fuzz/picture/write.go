package picture

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

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
	return []byte(strings.NewReplacer(
		"{{css}}", pageCSS,
		"{{script}}", layoutJS+diagramJS+panelJS+legendJS+pageJS,
		"{{data}}", string(data),
		"{{repeat}}", repeatHTML(repeat),
		"{{faults}}", faultsHTML(o, r.Plan),
		"{{title}}", html.EscapeString(r.Title),
		"{{status}}", html.EscapeString(r.Status),
		"{{headline}}", html.EscapeString(r.Headline),
		"{{summary}}", html.EscapeString(r.Summary),
		"{{meaning}}", textHTML("meaning", r.Meaning),
		"{{about}}", textHTML("about", o.Scenario.Workload.About),
		"{{maker}}", makerHTML(o.Maker()),
		"{{scenario}}", html.EscapeString(r.Scenario),
		"{{story}}", html.EscapeString(o.Story()),
	).Replace(pageHTML)), nil // texts are not searched again
}

// textHTML shows a text, if there is one.
func textHTML(id, text string) string {
	if text == "" {
		return ""
	}
	return `<p id="` + id + `">` + html.EscapeString(text) + `</p>`
}

// repeatHTML shows the command that plays the run again, if there is one.
func repeatHTML(command string) string {
	if command == "" {
		return ""
	}
	return `<dt>repeat</dt>
    <dd><code id="repeat">` + html.EscapeString(command) + `</code>
      <button id="copy" type="button">copy</button></dd>`
}

// makerHTML shows the place in the code that made the znode to blame, if it is known.
func makerHTML(place string) string {
	if place == "" {
		return ""
	}
	return `<dt>blamed znode</dt><dd>made at <code id="maker">` + html.EscapeString(place) +
		`</code></dd>`
}
