package conform

import (
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Root is the node below which every script works. Compare deletes it and what
// is below it before each script, and at the end.
const Root = "/zksim-conform"

// A script is a short list of steps, which is played on both servers.
type script struct {
	family, name string
	needs        []string // what the servers must be able to do, as abilities names it
	steps        []step
}

// A step is one thing that a session does. Its text is a line of the notation,
// which families/*.txt are written in and differences are told in.
type step struct {
	text    string
	line    string // of the file, which may repeat: several steps have it
	number  int    // of the line; 0 if there is no file
	session string
	kind    stepKind

	requests []request  // of stepSend
	connect  connecting // of stepConnect and stepAttach
	bytes    []byte     // of stepFirst, stepBytes and stepPartial
	frames   int        // of stepAwait
}

type stepKind int

const (
	stepSend    stepKind = iota // send requests in one go and take the answers
	stepConnect                 // a new connection with a new session
	stepAttach                  // a new connection for the session
	stepDrop                    // end the connection
	stepAwait                   // wait for frames without sending anything
	stepExpire                  // wait for the end of the connection
	stepFirst                   // a new connection and any first bytes
	stepBytes                   // any bytes, then wait until the server closes
	stepPartial                 // any bytes, and wait for nothing
)

// A request is one frame after the handshake.
type request struct {
	op   proto.OpCode
	req  proto.Request // nil if body says what to send
	body []byte
	// payload, if not nil, is sent instead of header and body.
	payload []byte

	hasXid bool // xid is as given, not the session's next one
	xid    int32
	// sinceStart says that a SetWatches counts its zxid from the script's start.
	sinceStart bool
}

// connecting says how a connect request differs from that of a good client.
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
