package record_test

import (
	"bytes"
	"errors"
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
)

// A lock that two clients hold at once, and a call that may have had an effect.
func ExampleRecorder() {
	var file bytes.Buffer
	recorder := record.New(&file)
	recorder.Call("worker-1", ops.Lock, "").OK(lin.Result{Token: 7})
	recorder.Call("worker-2", ops.Lock, "").OK(lin.Result{Token: 9})
	recorder.Call("worker-1", ops.Unlock, "").Unknown(lin.Result{}, errors.New("no connection"))
	if err := recorder.Close(); err != nil {
		fmt.Println(err)
	}

	read, err := record.Read(&file)
	if err != nil {
		fmt.Println(err)
	}
	report := lin.Judge(read.History, nil, lock.Claims{})
	fmt.Println(report.First())
	for _, v := range lin.Unjudged(read.History, report, lock.Claims{}) {
		fmt.Println(v)
	}
	// Output:
	// safety          violated  worker-1 and worker-2 own the lock at once: worker-1 since step 3 (session not known), worker-2 since step 5 (session not known)
	// liveness        unknown   not judged: the state at rest is not known
	// orphans         unknown   not judged: the state at rest is not known
}
