package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// modulePath is the path of this module.
const modulePath = "github.com/zksim/zksim"

// release is the version that CHANGELOG.md describes first.
const release = "v0.1.0"

// version is the output of --version: the name of the program, the version of this module in its
// build, as the main module or as a dependency, and the version of Go. A build that has no version
// of its own, that of a commit, or a module that is replaced, names the release, too.
func version(name string, read func() (*debug.BuildInfo, bool)) string {
	const unknown = "unknown version"
	info, ok := read()
	if !ok {
		return fmt.Sprintf("%s: %s %s (%s), %s", name, modulePath, release, unknown, runtime.Version())
	}
	number := unknown
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		switch {
		case m.Path != modulePath || m.Version == "":
		case m.Replace != nil: // by a directory, which need not be that version
			number = "replaced"
		default:
			number = m.Version
		}
	}
	if number == unknown || number == "replaced" || number == "(devel)" ||
		strings.HasPrefix(number, "v0.0.0") {
		number = release + " (" + strings.Trim(number, "()") + ")"
	}
	return fmt.Sprintf("%s: %s %s, %s", name, modulePath, number, info.GoVersion)
}
