package member_test

import (
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/member"
	"github.com/zksim/zksim/linearizability/ops"
)

// A view still shows an instance five seconds after it has left.
func ExampleClaims() {
	h := lin.History{
		Ops: []lin.Op{
			{Client: "a", Kind: ops.Join, Input: "web/a=1", Call: 1, Return: 3, Outcome: lin.OpOK},
			{Client: "a", Kind: ops.Leave, Input: "web/a", Call: 4, Return: 6, Outcome: lin.OpOK},
			{Client: "c", Kind: ops.View, Output: "web/a=1", Call: 7, Return: 8,
				CallTime: 5 * time.Second, ReturnTime: 5 * time.Second, Outcome: lin.OpOK},
		},
		Server: []lin.ServerEvent{
			{Step: 2, Kind: lin.NodeCreated, Path: "/services/web/a", Data: "1", Czxid: 2,
				Session: 1, Owner: 1, Client: "a"},
			{Step: 5, Kind: lin.NodeDeleted, Path: "/services/web/a", Session: 1, Client: "a"},
		},
	}
	claims := member.Claims{Path: "/services", Services: true, Within: time.Second}
	fmt.Println(lin.Judge(h, nil, claims).First())
	// Output:
	// answers         violated  c's view (steps 7 to 8) shows web/a=1, as it was until step 5, 5s before the call, and views may lag by 1s
}
