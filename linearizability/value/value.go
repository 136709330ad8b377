package value

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// Versioned returns a value and its version as histories have them: "x@3". The version of a value
// that does not exist is -1.
func Versioned(value string, version int32) string { return fmt.Sprintf("%s@%d", value, version) }

// cutVersion is the inverse of Versioned; the version is model.NoVersion if there is none.
func cutVersion(text string) (value string, version int32) {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		if version, err := strconv.ParseInt(text[i+1:], 10, 32); err == nil {
			return text[:i], int32(version)
		}
	}
	return text, model.NoVersion
}

// Claims claims to be a shared value. Its calls are [ops.Read], [ops.Write], [ops.CAS] and
// [ops.Remove]. At first the value does not exist; its versions are its znode's.
//
// The server's log settles calls of unknown outcome: a write took effect if its client stored its
// value after the call. With the log delivery is judged, too: each successful write is applied
// once, a refused or failed write never, and no client stores a value without a call. Clients that
// write the same value at the same time can be mistaken for each other. Watches on Path that are
// left at rest are not judged.
type Claims struct {
	// Path is the value's znode.
	Path string
	// Value reads the znode's data, and reports false if it holds no value yet; nil means that the
	// data is the value.
	Value func(data string) (string, bool)
	// StaleReads: a read, and the answer that a write was refused or had nothing to remove, may be
	// that of a server that lags behind. It fits a state no older than the client's own calls
	// before it. Linearizability leaves it out.
	StaleReads bool
	// MayRepeat: a write that its recipe retried after an unknown outcome may be applied more than
	// once.
	MayRepeat bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (Claims) Properties() []string {
	return []string{lin.Linearizability, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newValueTable(h.Sorted(), claims)
	r := custom.Object[model.Value, model.ValueOp]{
		Noun: "shared value", Step: model.Value.Step, Show: showValue,
		Effects: func(lin.History) []custom.Effect[model.ValueOp] { return t.effects() },
		Path:    claims.Path, AllowedAtRest: claims.AllowedAtRest,
	}.Judge(h, judging.WithoutWatches(left, claims.Path))
	if t.known {
		r.Add(t.judgeDelivery())
		judging.Prefer(&r, lin.Delivery)
	}
	claims.StaleReads = true
	t.JudgeReads(t.history, left, &r, claims)
	return r
}

func showValue(v model.Value) string {
	if !v.Exists {
		return "nothing"
	}
	return Versioned(cmp.Or(v.Data, `""`), v.Version)
}
