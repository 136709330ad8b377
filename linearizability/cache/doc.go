// Package cache judges caches: a client keeps a copy of a part of the tree, which follows the
// server.
//
// In a history each client looks into its cache from time to time. The output of the call look is a
// [Look]: the znodes in the cache, with their zxids, and the events since the look before. A settle
// is a look after all faults, when the cache no longer says that it is stale. The call ready waits
// until everything has been read once.
//
//	look := cache.Look{Nodes: []cache.Node{{Path: "/c", Data: "1", Zxid: 7}}}
//	recorder.Call("a", ops.Look, "").OK(linearizability.Result{Output: look.String()})
//	h := recorder.History(serverEvents)
//	fmt.Print(linearizability.Judge(h, nil, cache.Claims{Path: "/c"}))
//
// The properties, and how each is violated:
//
//	view      a look shows a state that a znode never had, or an older one than an earlier look
//	belief    the cache says that it is up to date while its client is disconnected
//	delivery  if Events: the events since the last look do not lead to the present look
//	liveness  a call waits for ever; or, if Patience, a settle does not show the present tree
//	orphans   at rest a session or a goroutine is left; caches leave their watches
//
// Each znode is judged by itself: two znodes in a look may be of different moments. Without the
// events of the server, view means only that zxids never go back. The only claims are [Claims].
package cache
