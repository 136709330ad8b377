package conform_test

import (
	"context"
	"fmt"
	"net"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
)

// target starts a server in this process.
func target(name string, opts fakezk.Options) (conform.Target, func()) {
	opts.SuperDigest = conform.SuperDigest
	server := fakezk.New(opts)
	dial := server.Dialer()
	return conform.Target{
		Name: name,
		Dial: func(context.Context) (net.Conn, error) { return dial("tcp", fakezk.Address, 0) },
	}, func() { _ = server.Close() }
}

// The server of package fakezk agrees with itself.
func ExampleCompare() {
	a, closeA := target("one", fakezk.Options{})
	defer closeA()
	b, closeB := target("another", fakezk.Options{})
	defer closeB()
	report, err := conform.Compare(context.Background(), a, b,
		conform.Options{Families: []string{"stat", "sequence"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Table())
	// Output:
	// family          scripts  operations  differences
	// sequence              7          39            0
	// stat                  6          62            0
	// total                13         101            0
}

// A server with a smaller limit for frames differs.
func ExampleReport_Explain() {
	a, closeA := target("large", fakezk.Options{})
	defer closeA()
	b, closeB := target("small", fakezk.Options{MaxFrame: 100_000})
	defer closeB()
	report, err := conform.Compare(context.Background(), a, b,
		conform.Options{Families: []string{"create"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Differences {
		fmt.Print(report.Explain(d))
	}
	// Output:
	// create: data
	//     a create $/null data=null
	//     a create $/empty data=""
	//     a create $/big size=100000
	//   large:
	//     create: xid 3, zxid +4, ok, $/big
	//     ping: xid -2, zxid +4, ok
	//   small:
	//     closed by the server
}
