package museum

func shortName() Exhibit {
	return Exhibit{
		ID: "G2", Title: "the Go client trips over a short name",
		Report: "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
		Bug: "The search for a GUID takes the 32 characters after _c_ from every child that begins with it. One that ends " +
			"earlier, whoever has made it, makes the client panic.",
		Property: "panic",
		Wrong:    beside(lockOf(joinByClient), shortNamed),
		Right:    beside(lockOf(nil), shortNamed),
	}
}
