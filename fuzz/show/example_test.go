package show_test

import (
	"context"
	"os"
	"strings"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/show"
)

// The first lines of a run, and the world after them.
func ExampleView_Show() {
	file, err := saved.Parse("lost.yaml", []byte(`
workload: queue
implementation: recipes.ApacheQueue
clients: 1
rounds: 1
plan:
  - drop-reply client=a op=delete request=1
expect: violated
`), builtin.Find)
	if err != nil {
		panic(err)
	}
	run, err := file.Check(false)
	if err != nil {
		panic(err)
	}
	view := show.View{File: "lost.yaml", Until: 7}
	if err := view.Show(context.Background(), run, strings.NewReader(""), os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// 1     0.001179s  a        calls offer a1
	//     2     0.003897s  a        connects (connection 1)
	//     3     0.004254s  a        -> connect: session S1
	//     4     0.004254s  server   session S1 starts
	//     5     0.010315s  a        <- connect: session S1
	//     6     0.010315s  a        is told: connected
	//     7     0.010527s  a        -> #1 create sequential /queue/qn-: NoNode, zxid 2
	//
	//   sessions: S1
	//   a is in offer a1
	//
	// lost.yaml: delivery is violated, as expected
}
