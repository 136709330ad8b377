package foreign

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
)

// TestOnlyAReleaseFindsNothingHeld: of any other call the error :not-held means that it has failed.
func TestOnlyAReleaseFindsNothingHeld(t *testing.T) {
	const lost = `
		{:process 0 :type :invoke :f :acquire} {:process 0 :type :ok :f :acquire}
		{:process 1 :type :invoke :f :acquire} {:process 1 :type :ok :f :acquire}
		{:process 0 :type :invoke :f :release} {:process 0 :type :fail :f :release :error E}`
	for _, c := range []struct {
		kind, text string
		bad        bool
	}{
		{"lock", strings.ReplaceAll(lost, "E}", ":not-held}"), false},
		{"lock", strings.ReplaceAll(lost, "E}", `[:not-held "nobody"]}`), false},
		{"lock", strings.ReplaceAll(lost, "E}", ":timeout}"), true},
		{"register", `
			{:process 0 :type :invoke :f :write :value 1} {:process 0 :type :ok :f :write :value 1}
			{:process 0 :type :invoke :f :cas :value [1 2]}
			{:process 0 :type :fail :f :cas :value [1 2] :error :not-held}
			{:process 0 :type :invoke :f :read :value nil} {:process 0 :type :ok :f :read :value 2}`,
			true},
	} {
		h, err := Jepsen(strings.NewReader(c.text), c.kind, "")
		check.OK(t, err)
		r := lin.Judge(h, nil, claims[c.kind])
		if bad := r.Status() == lin.Violated; bad != c.bad {
			t.Errorf("%s%s\ngot %v: %s", c.kind, c.text, r.Status(), r.First().Summary)
		}
	}
}
