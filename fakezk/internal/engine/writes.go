package engine

import (
	"iter"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// A Write is one changed node of a transaction.
type Write struct {
	Path string
	// Bytes is the length of the data written, 0 for a deletion.
	Bytes int
	// Owner is the session of an ephemeral node that was created, else 0.
	Owner int64
}

// Writes returns the nodes that were created, deleted or given data, in order. A change
// of an ACL is not included.
func (a *Applied) Writes() iter.Seq[Write] {
	return func(yield func(Write) bool) {
		for _, change := range a.Txn.Changes {
			var w Write
			switch c := change.(type) {
			case state.CreateNode:
				w = Write{Path: c.Path, Bytes: len(c.Data), Owner: c.Owner}
			case state.DeleteNode:
				w = Write{Path: c.Path}
			case state.SetData:
				w = Write{Path: c.Path, Bytes: len(c.Data)}
			default:
				continue
			}
			if !yield(w) {
				return
			}
		}
	}
}
