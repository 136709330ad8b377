package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
)

// A Shard says which part of which work a report is about. It is empty for a process that does all
// of the work.
type Shard struct {
	Shard string `json:"shard,omitempty"`
	Work  string `json:"work,omitempty"` // of all shards
}

// ShardOf is a part of some work, which the values of flags describe: "--runs=10; --seed=1".
func ShardOf(part hunt.Part, work string) Shard {
	if part == (hunt.Part{}) {
		return Shard{}
	}
	return Shard{part.String(), work}
}

func (s Shard) shard() Shard { return s }

// sameWork returns an error if two reports are about different work. It names the settings that
// differ.
func sameWork(of, first string) error {
	if of == first {
		return nil
	}
	its, other := strings.Split(of, "; "), strings.Split(first, "; ")
	if len(its) == len(other) {
		for i := len(its) - 1; i >= 0; i-- {
			if its[i] == other[i] {
				its, other = slices.Delete(its, i, i+1), slices.Delete(other, i, i+1)
			}
		}
	}
	return fmt.Errorf("it is about %s, and not about %s", strings.Join(its, "; "),
		strings.Join(other, "; "))
}
