// Package serve is the command zksim serve: an in-memory ZooKeeper on TCP for clients in any
// language, with faults, and its control endpoint. This is the manual of the command.
//
// zksim serve keeps nothing when it stops, unless --dump names a file. It prints "listening on
// HOST:PORT" on stdout once clients can connect, and logs on stderr. A SIGTERM or an interrupt ends
// it with status 0 after the dump is written; a second signal kills it. Faults come from --plan,
// --fault and the control endpoint.
//
// The server answers as ZooKeeper 3.8.0 with extendedTypesEnabled=true and
// 4lw.commands.whitelist=*. Its log has the beginning and end of sessions, faults that fire, and
// refused connections, handshakes and frames.
//
// A dump has no ephemeral nodes: their sessions end with the server. A client that lives through a
// restart refuses a server with a zxid below the last one it has seen, so a tree without zxid needs
// new clients. Package [github.com/zksim/zksim/fakezk/tree] is the manual of tree files.
//
// # The control endpoint
//
// --control HOST:PORT opens the control endpoint: HTTP with JSON, for this machine only unless
// --control-anywhere is given. It accepts only requests with the Host localhost or an address such
// as 127.0.0.1, so that no page in a browser can reach it by another name. With --control-token, or
// the variable ZKSIM_CONTROL_TOKEN, a request must have the token. With --control-anywhere a token
// is drawn and printed, unless one is given, or none.
//
//	GET    /                  the list of the requests
//	GET    /ui                a live page, for a browser
//	GET    /openapi.yaml      the requests for programs, OpenAPI 3
//	GET    /namespaces        the namespaces and their addresses, in order of name
//	POST   /namespaces        make a namespace: an empty server on a free port
//	                          {"name":"b"} or nothing for a free name
//	DELETE /namespaces/NAME   end a namespace with all it holds
//	GET    /server            the address, whether it runs, the zxid, the servers of an ensemble
//	GET    /tree              the nodes in order of path
//	GET    /sessions          the sessions in order of creation
//	GET    /watches           the watches in order of path
//	GET    /dump              the tree as a tree file
//	                          ?format=yaml or json
//	GET    /nodes/PATH        one node
//	PUT    /nodes/PATH        create a node and its missing parents, or replace its data
//	                          the data, any bytes
//	DELETE /nodes/PATH        delete a node and all below it
//	POST   /load              make the nodes of a tree file
//	                          a tree file, ?format=yaml or json
//	POST   /expire            end a session
//	                          {"session":"S1"}
//	POST   /drop              close the connection of a session, or all connections
//	                          {"session":"S1"} or nothing for all
//	POST   /stall             hold all bytes of a session's connection, or of all, for a while
//	                          {"for":"2s","session":"S1"}, without session for all
//	POST   /stop              close the connections and refuse new ones; no session expires then
//	                          {"server":1} or nothing for all
//	POST   /restart           close the connections and serve again, with nodes and sessions
//	                          {"server":1} or nothing for all
//	POST   /reset             make the server as new
//	GET    /faults            the faults in the order of arming, and whether they have fired
//	POST   /faults            arm faults
//	                          {"line":"drop-reply op=create request=1"} or lines as in a plan
//	DELETE /faults            disarm all faults and end their effects
//	GET    /faults/NUMBER     one fault; with wait, as soon as it has fired or the time is over
//	                          ?wait=10s
//	GET    /history           the last 1,000 requests, notifications, faults, events and calls
//	                          ?after=12, kind, session, op, path (a glob as in faults), wait=10s
//	GET    /events            the history as server-sent events, and new records as they come
//	                          the parameters of /history without wait, or the header Last-Event-ID
//
// A namespace is a separate server on a separate port, for tests that run at the same time.
// /namespaces/NAME/tree, and so on, are the requests above for that server; /, /ui, /openapi.yaml
// and /namespaces exist once. A namespace has the settings of the flags, but not their faults and
// nodes.
//
// A session is S1, S2 and so on in the order of creation, or its id as 0x... or in decimal; null
// and "" are errors. An error is {"error":"..."} with a status: 400 for a wrong request, 401 for
// one without the token, 403 for one of another site or to another Host, 404 for an unknown
// session, path, fault or namespace, 405 for a wrong method, 408 for a body that does not come, 409
// for a conflict with the server's state, 413 for a body that is too long, and 503 while the server
// stops or has too much to do.
//
// No client of the endpoint stalls another one. A request has a place among those that work from
// the end of its body to the beginning of its reply: 16 work at a time, and besides them two with a
// whole tree or list (/tree, /dump, /sessions, /watches, /load). More wait. 100 requests with wait,
// and event streams, have places of their own, and more get 503. A body must come within a minute.
// A client must take 64 KiB of a reply within ten seconds, and all of it within a minute, or it
// loses the connection. While the bodies and replies of others take 64 MiB, a body or reply above
// 1 MiB gets 503; shorter ones do at 128 MiB. A 503 has the header Retry-After, unless the server
// stops. Five seconds after something large has gone, its memory goes back to the system.
package serve
