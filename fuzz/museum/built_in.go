package museum

import "github.com/zksim/zksim/fuzz"

// builtIn is a workload of package recipes, which is right. It panics if there is none of
// that name.
func builtIn(kind, impl string) fuzz.Workload {
	w, err := fuzz.Find(kind, impl)
	if err != nil {
		panic(err)
	}
	return w
}
