package picture

import (
	_ "embed"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
)

//go:embed index.html
var indexHTML string

// Add writes the picture of a run to a directory, as [Save] does to a file, and writes the index of
// all pictures there anew: index.html. name is that of the picture without its directory.
func Add(dir, name string, o *scenario.Outcome, repeat string) error {
	if err := Save(filepath.Join(dir, name), o, repeat); err != nil {
		return err
	}
	for {
		names, err := pages(dir)
		if err == nil {
			err = writeIndex(dir, names)
		}
		if err != nil {
			return fmt.Errorf("index of the pictures: %w", err)
		}
		// Another process may have written an index without this picture in between.
		if after, err := pages(dir); err != nil || slices.Equal(names, after) {
			return err
		}
	}
}

// pages are the names of the pages of a directory, but for its index.
func pages(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.html"))
	return slices.DeleteFunc(names, func(name string) bool {
		return filepath.Base(name) == "index.html"
	}), err
}

// escapeGlob is the pattern of a directory's own name.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// writeIndex writes the index in one step, since others may do so, too.
func writeIndex(dir string, names []string) error {
	var rows strings.Builder
	count := 0
	for _, name := range names {
		text, err := head(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if row := indexRow(filepath.Base(name), string(text)); row != "" {
			rows.WriteString(row)
			count++
		}
	}
	text := strings.NewReplacer("{{count}}", counted(count), "{{rows}}", rows.String()).
		Replace(indexHTML)
	f, err := os.CreateTemp(dir, ".index-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, "index.html"))
}

// head is the beginning of a page, in which its verdict is.
func head(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<16))
}

func counted(n int) string {
	if n == 1 {
		return "1 picture"
	}
	return fmt.Sprintf("%d pictures", n)
}

// indexRow is the row of a page; "" for a page of somebody else.
func indexRow(name, page string) string {
	if !strings.Contains(page, generator) {
		return ""
	}
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(page, from)
		text, _, _ := strings.Cut(rest, to)
		return html.EscapeString(html.UnescapeString(text))
	}
	row := fmt.Sprintf(`<tr><td><a href="%s">%s</a></td><td>`,
		html.EscapeString((&url.URL{Path: name}).String()), between("<title>", "</title>"))
	if text := between(`<p id="meaning">`, "</p>"); strings.Contains(page, `<p id="meaning">`) {
		row += `<p class="meaning">` + text + "</p>"
	}
	row += "<p>" + between(`<p id="summary">`, "</p>") + "</p>"
	return row + `<p class="scenario">` + between("<dt>tried</dt><dd>", "</dd>") +
		"</p></td></tr>\n"
}

// generator marks the pages of this package.
const generator = `<meta name="generator" content="zksim">`
