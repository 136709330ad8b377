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

// A tree file is a mapping from paths to nodes, in YAML or JSON. A node is its
// data as text, or nothing for null data, or a mapping:
//
//	zxid: 42                            # the server goes on after it
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
// The zxid, which a dump has, may be left out: clients that live through a restart
// need it, as they refuse to go back. Text in YAML that looks like a number or like
// true or false needs quotes. A byte order mark at the beginning is skipped. Parents that are missing are made, with null data. Unknown keys, values of the
// wrong kind and paths given twice are errors.
type treeFile struct {
	zxid  int64 // 0 if there is none
	nodes []view.NodeSpec
}

// treeFormat is the language of a tree file.
type treeFormat string

const (
	treeYAML treeFormat = "yaml"
	treeJSON treeFormat = "json"
)

// maxTreeFile is the longest tree file in bytes that is read.
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
		return treeFile{}, fmt.Errorf("read %s: %w", name, err)
	}
	return parseTree(name, format, data)
}

// parseTree reads the text of a tree file; name goes into errors only.
func parseTree(name string, format treeFormat, data []byte) (treeFile, error) {
	if len(data) > maxTreeFile {
		return treeFile{}, fmt.Errorf("%s: longer than %d bytes", name, maxTreeFile)
	}
	if i := invalidUTF8(data); i >= 0 {
		return treeFile{}, fmt.Errorf("%s: byte %d is not UTF-8; data that is not text goes into base64", name, i+1)
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

// byteOrderMark is what some editors begin a file in UTF-8 with.
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

// writeTreeFile writes a tree file so that the name holds the old file or the
// whole new one, never a part. It returns the file's length in bytes.
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
		_ = os.Remove(f.Name()) // the first error is the one to tell
		return 0, fmt.Errorf("write %s: %w", name, err)
	}
	return n, nil
}
