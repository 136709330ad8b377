package conform

import (
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Version is the version of ZooKeeper that the families are written for: a standalone
// server of Debian, with TTL nodes enabled.
const Version = "3.8.0"

// Operations returns the names of all operations that the families send, sorted.
func Operations() []string {
	found := map[string]bool{}
	for _, scripts := range fixedScripts() {
		for _, s := range scripts {
			for _, step := range s.steps {
				for _, r := range step.requests {
					if name := r.op.String(); proto.IsOp(name) {
						found[name] = true
					}
				}
			}
		}
	}
	delete(found, proto.OpNotification.String()) // not requests: the server refuses them
	delete(found, proto.OpError.String())
	return slices.Sorted(maps.Keys(found))
}
