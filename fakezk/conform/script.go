package conform

import "github.com/zksim/zksim/fakezk/internal/proto"

// Root is the node below which every script works. Compare deletes it with its descendants
// before each script, and at the end.
const Root = "/zksim-conform"

// A script is a short list of steps to play on both servers.
type script struct {
	family, name string
	needs        []string // keys of abilities
	mark         string   // the mark of package marks that a test expects; "" for none
	steps        []step
}

// A step is one action of a session. Its text is a line of the notation of families/*.txt
// and of reports.
type step struct {
	text    string
	line    string // the line of the file; the steps of a repeat share it
	number  int    // the number of the line; 0 without a file
	session string
	kind    stepKind

	requests []request  // of stepSend
	connect  connecting // of stepConnect and stepAttach
	bytes    []byte     // of stepFirst, stepBytes and stepPartial
	frames   int        // of stepAwait
}

// A stepKind is the kind of action of a step.
type stepKind int

const (
	stepSend    stepKind = iota // send requests in one write and read the answers
	stepConnect                 // a new connection with a new session
	stepAttach                  // a new connection for the session
	stepDrop                    // end the connection
	stepAwait                   // wait for frames without sending anything
	stepExpire                  // wait for the end of the connection
	stepFirst                   // a new connection and any first bytes
	stepBytes                   // any bytes, then wait until the server closes
	stepPartial                 // any bytes, without waiting
)

// A request is one frame after the handshake.
type request struct {
	op   proto.OpCode
	req  proto.Request // nil if body is sent
	body []byte
	// payload, if not nil, is sent instead of header and body.
	payload []byte

	hasXid bool // use xid, not the session's next one
	xid    int32
	// sinceStart says that the zxid of a SetWatches is relative to the script's start.
	sinceStart bool
}

// connecting holds the differences of a connect request from an ordinary one.
type connecting struct {
	timeoutMs  int32
	version    int32
	zxid       int64
	zxidAhead  bool // the last zxid seen is far ahead of the server's
	noReadOnly bool
	readOnly   bool
	id         string // "", "unknown", "negative"
	password   string // "", "wrong", "short", "null", "zero", "long"
}

const defaultTimeoutMs = 30_000
