package refstore_test

import (
	"fmt"

	"github.com/zksim/zksim/internal/refstore"
)

func ExampleStore() {
	s := refstore.NewStore()
	s.OpenSession(1)
	s.OpenSession(2)
	s.Create(1, "/lock", nil, refstore.Persistent)
	path, stat, code := s.Create(1, "/lock/c-", nil, refstore.EphemeralSequential)
	fmt.Println(path, stat.Czxid, code)
	s.Exists(2, path, true)
	s.CloseSession(1)
	fmt.Println(s.Events(2))
	// Output:
	// /lock/c-0000000000 4 ok
	// [{NodeDeleted /lock/c-0000000000 5}]
}
