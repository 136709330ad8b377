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
// of its own, or that of a commit, names the release, too.
func version(name string, read func() (*debug.BuildInfo, bool)) string {
	const unknown = "unknown version"
	info, ok := read()
	if !ok {
		return fmt.Sprintf("%s: %s %s (%s), %s", name, modulePath, release, unknown, runtime.Version())
	}
	number := unknown
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath && m.Version != "" {
			number = m.Version
		}
	}
	if number == unknown || strings.HasPrefix(number, "v0.0.0-") || number == "(devel)" {
		number = release + " (" + number + ")"
	}
	return fmt.Sprintf("%s: %s %s, %s", name, modulePath, number, info.GoVersion)
}
