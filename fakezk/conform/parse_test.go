package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestEveryOperationIsCompared: a family sends each that the server decodes.
func TestEveryOperationIsCompared(t *testing.T) {
	compared := Operations()
	for op := proto.OpCode(-20); op < 200; op++ {
		_, err := wire.DecodeRequest(op, nil)
		if !errors.Is(err, wire.ErrUnknownOp) && !slices.Contains(compared, op.String()) {
			t.Errorf("no family sends %s", op)
		}
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		"a":                                  "want a session and a verb",
		"a frob $":                           "unknown verb frob",
		"a create":                           "create: no path",
		"a create $ flags=x":                 "create: flags=x: want a number",
		"a create $ flags=2147483648":        "want a number of 32 bits",
		"a create $ acl=31/world":            "acl=31/world: want PERMS/SCHEME/ID",
		"a create $ mode=1":                  "create: unexpected mode=1",
		"a exists $ watch watch":             "exists: unexpected watch",
		`a exists "$`:                        "unfinished or wrong quotes",
		"a multi create $":                   "multi: want requests within { and }",
		"a multi { create }":                 "multi: create: no path",
		"a multi { op 7 }":                   "multi: only operations with a verb",
		"a op 1 0g":                          "op: 0g: encoding/hex",
		"a exists $ xid=-2":                  "xid=-2 is the xid of the answer to a ping",
		"a attach password=none":             "password=none: want one of wrong, short",
		"a connect ro=2":                     "ro=2: want none, 0 or 1",
		"repeat many a exists $":             "repeat many: want a number",
		"a drop now":                         "drop: unexpected now",
		"a setWatches since=+1 persistent=$": "setWatches: unexpected persistent=$",
	} {
		_, err := parseFamily("f", "== s\n"+line+"\n")
		if err == nil || !strings.HasPrefix(err.Error(), "f:2: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ...%s...", line, err, want)
		}
	}
	_, err := parseFamily("f", "a exists $\n")
	check.Contains(t, fmt.Sprint(err), "before the first script", "no script")
}

func TestQuotedValuesComeBack(t *testing.T) {
	for _, value := range []string{
		"$/a", "", "null", "none", "k=v", "$/a=b", "a b", "\x00", "\xff",
		`"`, `\`, ";", "{", "日本", "\U0001f600",
	} {
		tokens, err := tokenize("before " + quote(value) + " key=" + quote(value))
		if err != nil || len(tokens) != 3 {
			t.Fatalf("%q as %s: %+v, %v", value, quote(value), tokens, err)
		}
		for i, key := range []string{"", "key"} {
			if got := tokens[i+1]; got.value != value || got.key != key {
				t.Errorf("%q as %s: %+v", value, quote(value), got)
			}
		}
		if value == "null" && !tokens[1].quoted {
			t.Error("null is not quoted")
		}
	}
}

func TestEveryNeedIsAnAbility(t *testing.T) {
	for _, family := range Families() {
		for _, s := range fixedScripts()[family] {
			for _, need := range s.needs {
				if _, ok := abilities[need]; !ok {
					t.Errorf("%s: %s: needs %s", family, s.name, need)
				}
			}
			if len(s.steps) == 0 {
				t.Errorf("%s: %s: no steps", family, s.name)
			}
		}
	}
}
