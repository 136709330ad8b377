package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// modulePath is the path of this module.
const modulePath = "github.com/zksim/zksim"

// version is the output of --version: the name of the program, the version of this module in its
// build, as the main module or as a dependency, and the version of Go.
func version(name string, read func() (*debug.BuildInfo, bool)) string {
	const unknown = "unknown version"
	info, ok := read()
	if !ok {
		return fmt.Sprintf("%s: %s %s, %s", name, modulePath, unknown, runtime.Version())
	}
	number := unknown
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath && m.Version != "" {
			number = m.Version
		}
	}
	return fmt.Sprintf("%s: %s %s, %s", name, modulePath, number, info.GoVersion)
}
