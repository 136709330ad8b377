package object

import "testing"

// TestPayloadsAreKnownByTheirNames: each payload has one name, even if some of its bytes are
// missing.
func TestPayloadsAreKnownByTheirNames(t *testing.T) {
	names := map[string]string{"": "", "a1": "a1", "~": "~"}
	for _, name := range []string{"a1~512", "a1~4096", "a11~4096", "a.2-1~32768"} {
		whole := string(payloadOf(name))
		names[whole] = name
		names[whole[1:]] = "other"
		names[whole[:len(whole)-1]] = "other"
		names[whole[len(whole)-10:]] = "other"
	}
	known := map[string]string{}
	for payload, want := range names {
		name := payloadName(payload)
		if want != "other" && name != want {
			t.Errorf("%.20q of %d bytes: %q; want %q", payload, len(payload), name, want)
		}
		if other, twice := known[name]; twice {
			t.Errorf("%q names %.20q of %d and of %d bytes", name, payload, len(payload),
				len(other))
		}
		known[name] = payload
	}
}
