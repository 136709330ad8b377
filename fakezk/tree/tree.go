package tree

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
)

// A Tree is what a tree file holds.
type Tree struct {
	// Zxid is the zxid after which a server continues, 0 for none.
	Zxid  int64
	Nodes []view.NodeSpec // in the order of the file
}

// Format is the language of a tree file.
type Format string

// The formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// MaxBytes is the greatest length of a tree file that is read.
const MaxBytes = 64 << 20

// FormatOf is the format of a tree file with this name: JSON if it ends in .json, YAML if it ends
// in .yaml or .yml. Another name is an error.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return YAML, nil
	case ".json":
		return JSON, nil
	}
	return "", fmt.Errorf("%s: expected a name that ends in .yaml, .yml or .json", name)
}

// Of is the tree of a server, for a dump.
func Of(server *fakezk.Server) Tree {
	nodes := server.Snapshot()
	zxid := server.LastZxid() // after Snapshot, so that no node is newer
	return Tree{Zxid: zxid, Nodes: nodes}
}

// Load makes the nodes on a server, with zxids after the tree's. If the nodes are refused the
// server's zxid stays advanced, which does no harm.
func (t Tree) Load(server *fakezk.Server) error {
	if err := server.AdvanceZxid(t.Zxid); err != nil {
		return err
	}
	return server.Load(t.Nodes)
}

// ReadFile reads a tree file, whose name decides the format, or the data directory of a real
// server. without names files of such a directory that are left out, as log.1a: damaged ones.
func ReadFile(name string, without ...string) (Tree, error) {
	if isDir(name) {
		return readDataDir(name, without)
	}
	if len(without) > 0 {
		return Tree{}, fmt.Errorf("%s: is no data directory; only files of one can be left out", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return Tree{}, err
	}
	defer f.Close() // read only: nothing is lost
	format, err := FormatOf(name)
	if err != nil {
		return Tree{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return Tree{}, err // the error names the file
	}
	return Parse(name, format, data)
}

// Parse reads the text of a tree file. The name is for errors. Without a format, a text that begins
// with { is JSON, and any other is YAML.
func Parse(name string, format Format, data []byte) (Tree, error) {
	if len(data) > MaxBytes {
		return Tree{}, fmt.Errorf("%s: longer than %d bytes", name, MaxBytes)
	}
	if i := invalidUTF8(data); i >= 0 {
		return Tree{}, fmt.Errorf("%s: byte %d is not UTF-8; "+
			"data that is not text goes into base64", name, i+1)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	read := readYAML
	if format == JSON || format == "" && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		read = readJSON
	}
	v, err := read(data)
	if err != nil {
		return Tree{}, fmt.Errorf("%s:%w", name, err)
	}
	t, err := treeOf(v)
	if err != nil {
		return Tree{}, fmt.Errorf("%s:%w", name, err)
	}
	return t, nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, -1 if all are. It looks at one
// part after the other: under the race detector nothing stops a goroutine within utf8.Valid, and
// other goroutines, that of the collector first, would wait for many seconds.
func invalidUTF8(data []byte) int {
	const part = 64 << 10
	for from := 0; from < len(data); {
		to := min(from+part, len(data))
		for range utf8.UTFMax - 1 {
			if to < len(data) && !utf8.RuneStart(data[to]) {
				to--
			}
		}
		if !utf8.Valid(data[from:to]) {
			return from + firstInvalid(data[from:])
		}
		from = to
	}
	return -1
}

// firstInvalid is the offset of the first byte that is not UTF-8. There is one.
func firstInvalid(data []byte) int {
	for i := 0; ; {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}

// WriteFile writes a tree file and returns its length in bytes. The name decides the format. After
// an error the name still has the old file.
func WriteFile(name string, t Tree) (int, error) {
	format, err := FormatOf(name)
	if err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return 0, err
	}
	n, err := f.Write(t.Text(format))
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
		return 0, fmt.Errorf("write %s: %w", name, err)
	}
	return n, nil
}
