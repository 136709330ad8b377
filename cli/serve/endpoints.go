package serve

// An endpoint is a request of the control endpoint. The table of endpoints is the one source of the
// handlers, of the list GET /, of the OpenAPI document, and of the tables in docs/control.md and in
// the comment of this package.
type endpoint struct {
	// method and path are a pattern of http.ServeMux. Unless once is true, the path also exists
	// below /namespaces/NAME, for the server of that namespace.
	method, path string
	once         bool
	// whole says that a whole tree or list, which may be long, is in memory during the work.
	whole bool
	// does and takes are for people: the effect or the answer, and the parameters or the body, ""
	// for none.
	does, takes string
	// query are the parameters after ?, described in the table parameters.
	query []string
	// body is a value of the type of a JSON body, nil for no such body. texts are the media types
	// of a body that is text, or bytes. needed says that the body must not be left out.
	body   any
	texts  []string
	needed bool
	// example is a request that works, on a server with a session, a fault and a tree.
	example example
	// handle makes the answer.
	handle handler
}

// An example has the parameters and the body of a request.
type example struct{ query, body string }

// pagePath is the path of the page.
const pagePath = "/ui"

// endpoints are the requests in the order of the list GET /.
var endpoints = []endpoint{
	{
		method: "GET", path: "/{$}", once: true, does: "the list of the requests",
		handle: answers(getIndex),
	},
	{
		method: "GET", path: pagePath, once: true, does: "a live page, for a browser",
		handle: writes(getUI, "text/html"),
	},
	{
		method: "GET", path: "/openapi.yaml", once: true,
		does: "the requests for programs, OpenAPI 3", handle: writes(getOpenAPI, "application/yaml"),
	},
	{
		method: "GET", path: "/namespaces", once: true,
		does: "the namespaces and their addresses, in order of name", handle: answers(getNamespaces),
	},
	{
		method: "POST", path: "/namespaces", once: true,
		does:  "make a namespace: an empty server on a free port",
		takes: `{"name":"b"} or nothing for a free name`, body: namespaceBody{},
		example: example{body: `{"name":"b"}`}, handle: creates(postNamespace),
	},
	{
		method: "DELETE", path: "/namespaces/{name}", once: true,
		does: "end a namespace with all it holds", handle: answers(deleteNamespace),
	},
	{
		method: "GET", path: "/server",
		does:   "the address, whether it runs, the zxid, the servers of an ensemble",
		handle: answers(getServer),
	},
	{
		method: "GET", path: "/tree", whole: true, does: "the nodes in order of path",
		handle: lists(getTree),
	},
	{
		method: "GET", path: "/sessions", whole: true, does: "the sessions in order of creation",
		handle: lists(getSessions),
	},
	{
		method: "GET", path: "/watches", whole: true, does: "the watches in order of path",
		handle: lists(getWatches),
	},
	{
		method: "GET", path: "/dump", whole: true, does: "the tree as a tree file",
		takes: "?format=yaml or json", query: []string{"format"},
		example: example{query: "format=yaml"},
		handle:  writes(getDump, "application/yaml", "application/json"),
	},
	{method: "GET", path: "/nodes/{path...}", does: "one node", handle: answers(getNode)},
	{
		method: "PUT", path: "/nodes/{path...}",
		does:  "create a node and its missing parents, or replace its data",
		takes: "the data, any bytes", texts: []string{"application/octet-stream"},
		example: example{body: "hello"}, handle: answers(putNode),
	},
	{
		method: "DELETE", path: "/nodes/{path...}", does: "delete a node and all below it",
		handle: answers(deleteNode),
	},
	{
		method: "POST", path: "/load", whole: true, does: "make the nodes of a tree file",
		takes: "a tree file, ?format=yaml or json", query: []string{"format"},
		texts: []string{"application/yaml", "application/json"}, needed: true,
		example: example{body: "/loaded: hello"}, handle: answers(postLoad),
	},
	{
		method: "POST", path: "/expire", does: "end a session", takes: `{"session":"S1"}`,
		body: sessionBody{}, needed: true,
		example: example{body: `{"session":"S1"}`}, handle: answers(postExpire),
	},
	{
		method: "POST", path: "/drop", does: "close the connection of a session, or all connections",
		takes: `{"session":"S1"} or nothing for all`, body: sessionBody{},
		example: example{body: `{"session":"S1"}`}, handle: answers(postDrop),
	},
	{
		method: "POST", path: "/stall",
		does:  "hold all bytes of a session's connection, or of all, for a while",
		takes: `{"for":"2s","session":"S1"}, without session for all`,
		body:  stallBody{}, needed: true,
		example: example{body: `{"for":"1ms","session":"S1"}`}, handle: answers(postStall),
	},
	{
		method: "POST", path: "/stop",
		does:  "close the connections and refuse new ones; no session expires then",
		takes: `{"server":1} or nothing for all`, body: serverBody{},
		example: example{body: `{"server":1}`}, handle: answers(postStop),
	},
	{
		method: "POST", path: "/restart",
		does:  "close the connections and serve again, with nodes and sessions",
		takes: `{"server":1} or nothing for all`, body: serverBody{},
		example: example{body: `{"server":1}`}, handle: answers(postRestart),
	},
	{
		method: "POST", path: "/reset", does: "make the server as new", handle: answers(postReset),
	},
	{
		method: "GET", path: "/faults",
		does:   "the faults in the order of arming, and whether they have fired",
		handle: answers(getFaults),
	},
	{
		method: "POST", path: "/faults", does: "arm faults",
		takes: `{"line":"drop-reply op=create request=1"} or lines as in a plan`,
		body:  faultBody{}, texts: []string{"text/plain"}, needed: true,
		example: example{body: "drop-reply op=create request=1"}, handle: answers(postFaults),
	},
	{
		method: "DELETE", path: "/faults", does: "disarm all faults and end their effects",
		handle: answers(deleteFaults),
	},
	{
		method: "GET", path: "/faults/{number}",
		does:  "one fault; with wait, as soon as it has fired or the time is over",
		takes: "?wait=10s", query: []string{"wait"},
		example: example{query: "wait=10s"}, handle: answers(getFault),
	},
	{
		method: "GET", path: "/history",
		does:    "the last 1,000 requests, notifications, faults, events and calls",
		takes:   "?after=12, kind, session, op, path (a glob as in faults), wait=10s",
		query:   []string{"wait", "after", "kind", "session", "op", "path"},
		example: example{query: "op=create&path=/app/**"}, handle: answers(getHistory),
	},
	{
		method: "GET", path: "/events",
		does:    "the history as server-sent events, and new records as they come",
		takes:   "the parameters of /history without wait, or the header Last-Event-ID",
		query:   []string{"after", "kind", "session", "op", "path"},
		example: example{query: "after=4"}, handle: streams(getEvents),
	},
}

// parameters are those of a query or a path.
var parameters = map[string]parameter{
	"format":  {about: "the language of a tree file", enum: []string{"yaml", "json"}, example: "yaml"},
	"wait":    {about: "how long to wait, at most 10m, such as 10s", example: "1ms"},
	"after":   {about: "the number of the last record that the caller knows", example: "1"},
	"kind":    {about: "the kind of a record", enum: recordKinds, example: "call"},
	"session": {about: aboutSession, example: "S1"},
	"op":      {about: "the operation of a record", example: "put"},
	"path":    {about: "a glob: * matches in one name, /** at the end all below", example: "/app/**"},
	"{path}": {
		about:   "the path of the node without its first slash; slashes in it are not encoded",
		example: "app",
	},
	"{number}": {about: "the number of the fault, from 1", example: "1"},
	"{name}":   {about: "the name of the namespace", example: "a"},
}

// A parameter is a number if its example is one, and else text.
type parameter struct {
	about   string
	enum    []string // all values, nil if they are not listed
	example string
}
