package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zksim/zksim/fakezk/view"
)

// A treeFile is a mapping from paths to nodes, in YAML or JSON. A node is its data as text, null
// for null data, or a mapping:
//
//	zxid: 42                            # the server continues after it
//	/app: hello
//	/app/nothing: ~
//	/app/locks:
//	  data: text                        # or base64: AAEC; null data without both
//	  acl:                              # scheme:id:perms; world:anyone:cdrwa if absent
//	    - world:anyone:r
//	    - digest:user:hash:cdrwa        # perms c, d, r, w, a, or a number
//	  kind: container                   # or ttl, or persistent, the default
//	  ttl: 1m30s                        # for kind ttl only
//	  next: 12                          # number of the next sequential child
//
// A dump has a zxid. It may be left out, but clients that live through a restart need it, as they
// refuse a server that went back. Text in YAML that looks like a number or like true or false needs
// quotes. A byte order mark at the beginning is skipped. Missing parents are made, with null data.
// Unknown keys, values of a wrong kind and paths given twice are errors.
type treeFile struct {
	zxid  int64 // 0 for none
	nodes []view.NodeSpec
}

// treeFormat is the language of a tree file.
type treeFormat string

const (
	treeYAML treeFormat = "yaml"
	treeJSON treeFormat = "json"
)

// maxTreeFile is the greatest length in bytes of a tree file that is read.
const maxTreeFile = 64 << 20

// treeFormatOf is the format of a tree file with this name.
func treeFormatOf(name string) (treeFormat, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return treeYAML, nil
	case ".json":
		return treeJSON, nil
	}
	return "", fmt.Errorf("%s: expected a name that ends in .yaml, .yml or .json", name)
}

// readTreeFile reads a tree file. Its errors name the file and, if known, the line and column.
func readTreeFile(name string) (treeFile, error) {
	format, err := treeFormatOf(name)
	if err != nil {
		return treeFile{}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return treeFile{}, err
	}
	defer f.Close() // read only: nothing is lost
	data, err := io.ReadAll(io.LimitReader(f, maxTreeFile+1))
	if err != nil {
		return treeFile{}, err // the error names the file
	}
	return parseTree(name, format, data)
}

// parseTree reads the text of a tree file. The name is for errors.
func parseTree(name string, format treeFormat, data []byte) (treeFile, error) {
	if len(data) > maxTreeFile {
		return treeFile{}, fmt.Errorf("%s: longer than %d bytes", name, maxTreeFile)
	}
	if i := invalidUTF8(data); i >= 0 {
		return treeFile{}, fmt.Errorf("%s: byte %d is not UTF-8; "+
			"data that is not text goes into base64", name, i+1)
	}
	read := readYAML
	if format == treeJSON {
		read = readJSON
	}
	v, err := read(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	if err != nil {
		return treeFile{}, fmt.Errorf("%s:%w", name, err)
	}
	tree, err := treeOfValue(v)
	if err != nil {
		return treeFile{}, fmt.Errorf("%s:%w", name, err)
	}
	return tree, nil
}

// byteOrderMark is the beginning of a file in UTF-8 that some editors write.
const byteOrderMark = "\ufeff"

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

// writeTreeFile writes a tree file and returns its length in bytes. After an error the name still
// has the old file.
func writeTreeFile(name string, tree treeFile) (int, error) {
	format, err := treeFormatOf(name)
	if err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return 0, err
	}
	n, err := f.Write(formatTree(format, tree))
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
