package museum

import (
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// builtIn is a workload of package recipes, which is right. It panics if there is none of
// that name.
func builtIn(kind, impl string) scenario.Workload {
	w, err := object.Find(kind, impl)
	if err != nil {
		panic(err)
	}
	return w
}
