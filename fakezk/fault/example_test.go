package fault_test

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/fault"
)

func ExampleParse() {
	f, err := fault.Parse("stall 3s client=a op=getChildren2 request=1")
	fmt.Println(f.Kind, f.For, f.Client, f.Op, f.Request, err)
	_, err = fault.Parse("stall client=a request=1")
	fmt.Println(err)
	// Output:
	// stall 3s a getChildren2 1 <nil>
	// fault "stall client=a request=1": stall needs a duration, as in "stall 2s ..."
}
