package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/foreign"
	"github.com/zksim/zksim/linearizability/record"
	"github.com/zksim/zksim/linearizability/value"
)

// The formats of histories.
const (
	formatAuto      = "auto"
	formatOwn       = "zksim"
	formatJepsen    = "jepsen"
	formatPorcupine = "porcupine"
)

// mostSteps is the limit of the search for an order of the calls of a register, some ten seconds.
const mostSteps = 5_000_000

// load reads a history in its format.
func (c *Command) load(name string) (record.File, error) {
	format := c.Format
	if format == formatAuto {
		var err error
		if format, err = formatOf(name); err != nil {
			return record.File{}, err
		}
	}
	if format != formatOwn && len(c.Files) > 1 {
		return record.File{}, fmt.Errorf("%s: a history of %s has all processes in one file", name,
			format)
	}
	if format == formatOwn {
		if c.Key != "" {
			return record.File{}, errors.New("--key: a history of zksim has one object")
		}
		return record.Load(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return record.File{}, err
	}
	defer f.Close()
	read := foreign.Jepsen
	if format == formatPorcupine {
		read = foreign.Porcupine
	}
	h, err := read(f, c.Kind, c.Key)
	if err != nil {
		return record.File{}, fmt.Errorf("%s: %w", name, err)
	}
	return record.File{History: h, Complete: true}, nil
}

var (
	jepsenForm    = regexp.MustCompile(`^\s*([;#(]|\[\s*[{;#]\s*:?[a-z]|\{\s*:)`)
	porcupineForm = regexp.MustCompile(`^\s*(\[\s*)?\{[^}]*"ClientId"`)
)

// formatOf finds the format of a file by its beginning.
func formatOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	begin := make([]byte, 4096)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	begin = bytes.TrimPrefix(begin[:n], []byte("\ufeff"))
	switch {
	case jepsenForm.Match(begin):
		return formatJepsen, nil
	case porcupineForm.Match(begin):
		return formatPorcupine, nil
	}
	return formatOwn, nil
}

// register are the claims of a register.
func register(*Command) linearizability.Claims {
	return value.Register{MaxSteps: mostSteps}
}
