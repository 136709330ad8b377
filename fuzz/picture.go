package fuzz

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/scenario"
)

// drawn writes the picture of a run of a test to the directory of -zksim.html. It returns a line
// with the name of the file or with an error, or "" without the flag. command plays the run again.
func drawn(t TB, o *scenario.Outcome, command string) string {
	if *flagHTML == "" {
		return ""
	}
	name := fmt.Sprintf("%s-%s-%s.html", safeName(t.Name()),
		safeName(cmp.Or(o.Property(), o.Status().String())), o.Result.Trace.Hash()[:8])
	if err := picture.Add(*flagHTML, name, o, command); err != nil {
		return fmt.Sprintf("\nthere is no picture: %v", err)
	}
	return "\nthe picture: " + filepath.Join(*flagHTML, name)
}
