package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// version is the version of the format.
const version = 1

// maxLine is the greatest length of a line in bytes.
const maxLine = 1 << 20

// The events of a file.
const (
	eventCall   = "call"
	eventReturn = "return"
	eventNotice = "notice"
	eventChange = "change"
	eventEnd    = "end"
)

// header is the first line of a file.
type header struct {
	Format  string    `json:"zksim"`
	Version int       `json:"version"`
	Began   time.Time `json:"began"`
	Clock   text      `json:"clock,omitzero"`
}

// event is another line of a file, as it is written. docs/histories.md describes the fields.
type event struct {
	Event   string        `json:"event"`
	At      time.Duration `json:"at"`
	Call    int64         `json:"call,omitempty"`
	Client  string        `json:"client,omitempty"`
	Op      string        `json:"op,omitempty"`
	Input   text          `json:"input,omitzero"`
	Outcome string        `json:"outcome,omitempty"`
	Output  text          `json:"output,omitzero"`
	Empty   bool          `json:"empty,omitempty"`
	Notice  string        `json:"notice,omitempty"`
	Token   int64         `json:"token,omitempty"`
	Session session       `json:"session,omitzero"`
	Error   text          `json:"error,omitzero"`
}

// text is a string of any bytes. If it is not valid UTF-8 it is written as {"base64":"..."}, so that
// two different values never look the same.
type text string

// MarshalJSON writes the text.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
}

// session is the id of a session, written as ZooKeeper prints it: many readers of JSON would round
// a number.
type session int64

// MarshalJSON writes the id.
func (s session) MarshalJSON() ([]byte, error) {
	return json.Marshal(fmt.Sprintf("0x%x", uint64(s)))
}

// parseSession is the inverse of MarshalJSON.
func parseSession(text string) (session, error) {
	if len(text) > 2 && text[:2] == "0x" {
		if id, err := strconv.ParseUint(text[2:], 16, 64); err == nil {
			return session(id), nil
		}
	}
	return 0, fmt.Errorf(`%q; expected hexadecimal digits, as "0x1000a3f5e2b0001"`, text)
}

// word is a fixed word of the format, and its meaning.
type word[T any] struct {
	name  string
	means T
}

var outcomes = []word[linearizability.Outcome]{
	{"ok", linearizability.OpOK},
	{"failed", linearizability.OpFailed},
	{"unknown", linearizability.OpUnknown},
	{"not-held", linearizability.OpNotHeld},
}

// releases are the operations that may find out that a hold was lost.
var releases = []string{ops.Unlock, ops.Release, ops.Resign}

var notices = []word[linearizability.NoticeKind]{
	{"disconnected", linearizability.Disconnected},
	{"connected", linearizability.Connected},
	{"session-expired", linearizability.SessionExpired},
	{"lock-lost", linearizability.LockLost},
	{"paused", linearizability.Paused},
	{"resumed", linearizability.Resumed},
	{"unanswered", linearizability.Unanswered},
	{"died", linearizability.Died},
}

var changes = []word[linearizability.ServerEventKind]{
	{"node-created", linearizability.NodeCreated},
	{"node-deleted", linearizability.NodeDeleted},
	{"data-changed", linearizability.DataChanged},
	{"session-started", linearizability.SessionStarted},
	{"session-ended", linearizability.SessionEnded},
}

// nameOf is the word for a meaning.
func nameOf[T comparable](words []word[T], means T) string {
	for _, w := range words {
		if w.means == means {
			return w.name
		}
	}
	return fmt.Sprint(means)
}
