package cache_test

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/cache"
	"github.com/zksim/zksim/linearizability/ops"
)

// A cache has shown the new data of a znode, and then shows the old data.
func ExampleClaims() {
	shows := func(data string, zxid int64) string {
		return cache.Look{Nodes: []cache.Node{{Path: "/c", Data: data, Zxid: zxid}}}.String()
	}
	h := lin.History{
		Ops: []lin.Op{
			{Client: "a", Kind: ops.Look, Output: shows("new", 2), Call: 3, Return: 4,
				Outcome: lin.OpOK},
			{Client: "a", Kind: ops.Look, Output: shows("old", 1), Call: 5, Return: 6,
				Outcome: lin.OpOK},
		},
		Server: []lin.ServerEvent{
			{Step: 1, Zxid: 1, Kind: lin.NodeCreated, Path: "/c", Data: "old", Client: "w"},
			{Step: 2, Zxid: 2, Kind: lin.DataChanged, Path: "/c", Data: "new", Client: "w"},
		},
	}
	fmt.Println(lin.Judge(h, nil, cache.Claims{Path: "/c"}).First())
	// Output:
	// view            violated  a's look (steps 5 to 6) goes back: of /c it shows "old" of zxid 1, after it had shown "new" of zxid 2, as it was from step 2 on
}
