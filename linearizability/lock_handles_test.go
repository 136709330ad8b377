package linearizability

import "testing"

// TestHandlesOfOneClientExcludeEachOther, as those of two clients do.
func TestHandlesOfOneClientExcludeEachOther(t *testing.T) {
	kind := mutexOfHandles()
	const second = "handle 2"
	checkHistories(t, func(opts Lock) Claims {
		opts.Path, opts.Handles = "/lock", true
		return opts
	}, []lockTest{
		{name: "one after the other", build: func(f *fixture) {
			f.grants(kind, "a", 1, node("a", 0), "")
			f.gives(kind, "a", 1, node("a", 0), "")
			f.grants(kind, "a", 1, node("a", 1), second)
			f.gives(kind, "a", 1, node("a", 1), second)
			f.left = &Leftovers{}
		}},
		{name: "both", bad: Safety, says: "a and a (handle 2) own the lock at once: a since step",
			build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), "")
				f.grants(kind, "a", 1, node("a", 1), second)
			}},
		{name: "both, not linearizable", bad: Linearizability, says: "lock(handle 2) -> token",
			build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), "")
				f.grants(kind, "a", 1, node("a", 1), second)
			}},
		{name: "a handle and another client", bad: Safety, says: "a (handle 2) and b own the lock",
			build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), second)
				f.grants(kind, "b", 2, node("b", 1), "")
			}},
	})
}
