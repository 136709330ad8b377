package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zksim/zksim/fakezk"
)

// A tree file is a mapping from paths to nodes, in YAML or JSON. A node is its
// data as text, or nothing for null data, or a mapping:
//
//	/app: hello
//	/app/nothing: ~
//	/app/locks:
//	  data: text                        # or base64: AAEC; neither for null data
//	  acl:                              # scheme:id:perms; world:anyone:cdrwa if absent
//	    - world:anyone:r
//	    - digest:user:hash:cdrwa        # perms c, d, r, w, a, or a number
//	  kind: container                   # or persistent, ttl; persistent if absent
//	  ttl: 1m30s                        # of kind ttl only
//	  next: 12                          # number of the next sequential child
//
// Text in YAML that looks like a number or like true or false needs quotes.
// Parents that are missing are made, with null data. Unknown keys, values of the
// wrong kind and paths given twice are errors.
type treeFormat string

const (
	treeYAML treeFormat = "yaml"
	treeJSON treeFormat = "json"
)

// maxTreeFile is the longest tree file in bytes.
const maxTreeFile = 64 << 20

// treeFormatOf tells a tree file's format by its name.
func treeFormatOf(name string) (treeFormat, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return treeYAML, nil
	case ".json":
		return treeJSON, nil
	}
	return "", fmt.Errorf("%s: expected a name that ends in .yaml, .yml or .json", name)
}

// readTreeFile reads a tree file. Its errors name the file and, where there is
// one, the line and column.
func readTreeFile(name string) ([]fakezk.NodeSpec, error) {
	format, err := treeFormatOf(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing is lost
	data, err := io.ReadAll(io.LimitReader(f, maxTreeFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return parseTree(name, format, data)
}

// parseTree reads the text of a tree file; name goes into errors only.
func parseTree(name string, format treeFormat, data []byte) ([]fakezk.NodeSpec, error) {
	if len(data) > maxTreeFile {
		return nil, fmt.Errorf("%s: longer than %d bytes", name, maxTreeFile)
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, fmt.Errorf("%s: byte %d is not UTF-8; data that is not text goes into base64", name, i+1)
	}
	read := readYAML
	if format == treeJSON {
		read = readJSON
	}
	v, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	specs, err := treeOfValue(v)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return specs, nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, -1 if all are.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// writeTreeFile writes a tree file so that the name holds the old file or the
// whole new one, never a part.
func writeTreeFile(name string, specs []fakezk.NodeSpec) error {
	format, err := treeFormatOf(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(formatTree(format, specs))
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
		_ = os.Remove(f.Name()) // the first error is the one to tell
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
