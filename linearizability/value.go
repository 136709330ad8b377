package linearizability

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zksim/zksim/model"
)

// The kinds of operations of a shared value. See [Versioned] for values with
// versions; a version may be left out where it is not known.
const (
	KindRead   = "read"   // Output is the value and its version; Empty: it does not exist
	KindWrite  = "write"  // Input is the value to set, Output that with its new version
	KindCAS    = "cas"    // Input is the value to set and the version expected, Output that with its new version, or Refused
	KindRemove = "remove" // the value ceases to exist; with an Output of Refused it did not exist
)

// Refused is the output of a cas that found another version than it expected.
const Refused = "refused"

// Versioned is a value and its version as histories have them: "x@3". The version
// of a value that does not exist is -1.
func Versioned(value string, version int32) string { return fmt.Sprintf("%s@%d", value, version) }

// cutVersion is the inverse of Versioned; the version is model.NoVersion if there
// is none.
func cutVersion(text string) (string, int32) {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		if version, err := strconv.ParseInt(text[i+1:], 10, 32); err == nil {
			return text[:i], int32(version)
		}
	}
	return text, model.NoVersion
}

// Value say what a shared value claims to be.
type Value struct {
	// Path is the value's znode.
	Path string
	// Value reads the znode's data, and reports false if it holds no value yet; nil
	// means that the data is the value.
	Value func(data string) (string, bool)
	// MayRepeat: a write whose outcome was unknown meanwhile may be applied more
	// than once.
	MayRepeat bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// JudgeValue judges the history of one shared value: operations of the kinds
// [KindRead], [KindWrite], [KindCAS] and [KindRemove]; others are ignored. Rest may
// be nil. At first the value does not exist; versions are those of its znode.
//
// With the server's log every fate is known: an unknown write took effect if its
// client stored its value from the call on. Then delivery is judged, too: every
// write that succeeded is applied, none twice, none that was refused or was said to
// have failed, and nobody stores what he was not asked to. Clients that write the
// same value at the same time can be mistaken for each other. Watches on Path that are
// left at rest are not judged.
func (opts Value) judge(h History, rest *Leftovers) Report {
	c := newValueCase(h.sorted(), opts)
	r := Judge(h, rest.withoutWatches(opts.Path), Object[model.Value, model.ValueOp]{
		Noun: "shared value", Step: model.Value.Step, Show: showValue,
		Effects: func(History) []Effect[model.ValueOp] { return c.effects() },
		Path:    opts.Path, AllowedAtRest: opts.AllowedAtRest,
	})
	if c.known {
		r.insert(c.judgeDelivery())
	}
	return r
}

func showValue(v model.Value) string {
	if !v.Exists {
		return "nothing"
	}
	return Versioned(v.Data, v.Version)
}
