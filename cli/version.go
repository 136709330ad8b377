package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// modulePath is the module that the command is a part of.
const modulePath = "github.com/zksim/zksim"

// version is the line that --version prints: the command's name, the version of this
// module that it was built with, be it the main module or one that another's command
// needs, and that of Go.
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
