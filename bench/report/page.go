package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// intro is the beginning of the page.
const intro = `# Measurements

This page shows what zksim finds, how fast it is and how much memory it needs, with the
command that measures each figure. A command writes the page from the output of those
commands:

    go run -C bench ./report                the sections that take minutes
    go run -C bench ./report --only speed   one section
    go run -C bench ./report --list         the names of the sections

Each section keeps its text and its date until the next measurement. Times and memory
differ by ten percent and more from one measurement to the next. Numbers of scenarios,
faults and findings depend on the seed and the version of zksim only.
`

// A page is the text of each section, by its name.
type page map[string]string

// readPage reads a page, or makes an empty one if the file does not exist.
func readPage(file string) (page, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return page{}, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := parsePage(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// parsePage cuts a page into its sections; the introduction is always that of this package. A
// section with an unknown title is an error, since writing the page would lose it.
func parsePage(text string) (page, error) {
	p := page{}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		s, known := titled(title)
		if !known {
			return nil, fmt.Errorf("no section has the title %q", title)
		}
		p.set(s.name, body)
	}
	return p, nil
}

// set replaces the text of a section.
func (p page) set(name, body string) { p[name] = strings.TrimSpace(body) }

// String is the page, with its sections in their order.
func (p page) String() string {
	var b strings.Builder
	b.WriteString(intro)
	for _, s := range sections {
		if body := p[s.name]; body != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.title, body)
		}
	}
	return b.String()
}

func (p page) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(p.String()), 0o666)
}
