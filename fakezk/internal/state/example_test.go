package state_test

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// A session creates an ephemeral sequential node and ends.
func Example() {
	store := state.New(state.Config{})
	anyone := []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	caller := state.Caller{Session: 0x51}

	apply := func(txn state.Txn) {
		result := store.Apply(txn)
		fmt.Printf("zxid %d: %s %s %+v\n", txn.Zxid, txn.Op, result.Err, result.Reply)
		for _, event := range result.Events {
			fmt.Println("       ", event.Type, event.Path)
		}
	}
	apply(store.PrepareCreateSession(caller.Session, [16]byte{}, 4000, 1000))
	apply(store.Prepare(&proto.Create{
		Code: proto.OpCreate, Path: "/lock-", ACL: anyone, Flags: proto.FlagEphemeralSequential,
	}, caller, 1001))
	apply(store.Prepare(&proto.Delete{Path: "/nothing", Version: -1}, caller, 1002))
	apply(store.PrepareCloseSession(caller.Session, 5000))

	// Output:
	// zxid 1: createSession ok <nil>
	// zxid 2: create ok {Path:/lock-0000000000}
	//         NodeCreated /lock-0000000000
	//         NodeChildrenChanged /
	// zxid 3: delete NoNode <nil>
	// zxid 4: closeSession ok <nil>
	//         NodeDeleted /lock-0000000000
	//         NodeChildrenChanged /
}
