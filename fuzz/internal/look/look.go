// Package look has the flags of go test that show a failure in another way. Packages fuzz and
// property share them: a flag is defined once in a program.
package look

import "flag"

var (
	HTML = flag.String("zksim.html", "",
		"zksim: directory to draw violations in, as HTML pages")
	Step = flag.Bool("zksim.step", false,
		"zksim: walk through the replayed run on the terminal")
	Until = flag.Int64("zksim.until", 0,
		"zksim: show the replayed run up to this line, and the world as it was then")
	Diff = flag.String("zksim.diff", "",
		"zksim: scenario file, or trace, to compare the replayed run with")
)
