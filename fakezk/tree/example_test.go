package tree_test

import (
	"fmt"
	"log"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
)

// A server begins with the nodes of a file, and is dumped when a test has changed it.
func Example() {
	server := fakezk.New(fakezk.Options{})
	defer server.Close()
	file := []byte(`
/app: hello
/app/locks:
  kind: container
  acl:
    - world:anyone:r
`)
	t, err := tree.Parse("app.yaml", tree.YAML, file)
	if err != nil {
		log.Fatal(err)
	}
	if err := t.Load(server); err != nil {
		log.Fatal(err)
	}
	if err := server.Put("/app/port", []byte("8080")); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", tree.Of(server).Text(tree.YAML))

	_, err = tree.Parse("app.yaml", tree.YAML, []byte("/app:\n  port: 8080\n"))
	fmt.Println(err)
	// Output:
	// # A tree of znodes. Serve it with: zksim serve --load FILE
	// zxid: 2
	// /app: hello
	// /app/locks:
	//   acl:
	//     - world:anyone:r
	//   kind: container
	// /app/port: "8080"
	// app.yaml:2:3: unknown key "port"; expected data, base64, acl, kind, ttl or next
}
