package foreign_test

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/foreign"
	"github.com/zksim/zksim/linearizability/value"
)

func ExampleJepsen() {
	h, err := foreign.Jepsen(strings.NewReader(`
		{:process 0, :type :invoke, :f :write, :value 1}
		{:process 0, :type :ok, :f :write, :value 1}
		{:process 1, :type :invoke, :f :read, :value nil}
		{:process 1, :type :ok, :f :read, :value 2}`), "register", "")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(linearizability.Judge(h, nil, value.Register{}).First().Summary)
	// Output:
	// no order of the operations explains what the clients saw of the register: it goes wrong with p1: read() -> 2 (steps 3 to 4)
}
