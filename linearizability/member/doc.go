// Package member judges groups and registries: instances join and leave, and clients ask which
// instances exist.
//
// An instance is a path below the object: "a" in a group, "web/a" in a registry, where web is the
// service. The input of a join is the instance and its data, and the output of a view lists the
// instances:
//
//	recorder.Call("a", ops.Join, "web/a=host:80").OK(linearizability.Result{})
//	recorder.Call("c", ops.View, "").OK(linearizability.Result{Output: "web/a=host:80"})
//	h := recorder.History(serverEvents)
//	claims := member.Claims{Path: "/services", Services: true, Within: 10 * time.Second}
//	fmt.Print(linearizability.Judge(h, nil, claims))
//
// Other calls are update, leave, pick (one instance of a service), evict and spoil. A test evicts
// or spoils the znode of another client on purpose.
//
// The properties, and how each is violated:
//
//	safety    a client deletes the instance of another client, or writes into it
//	answers   a view or a pick shows what never was, what is older than Within, or what is
//	          older than an earlier view of the client
//	presence  a joined instance is missing, has other data, or exists after it has left
//	liveness  a call waits for ever
//	orphans   at rest a znode of an instance that has left, a session or a goroutine remains
//
// Safety, answers and presence need the events of the server. The only claims are [Claims]:
// Services says that the object is a registry, and Rivals that several clients compete for the same
// instance.
package member
