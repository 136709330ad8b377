package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// TestScenariosStillShow the bugs of the libraries, with equal traces in two runs.
func TestScenariosStillShow(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("the libraries connect by themselves; run it by: zksim go test -C wild ./...")
	}
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			file, err := saved.Load(name, scenario.Catalogue(libraries()).Find)
			if err != nil {
				t.Fatal(err)
			}
			var traces []string
			for range 2 {
				r, err := file.Check(false)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range r.Problems {
					t.Error(p)
				}
				traces = append(traces, r.Outcome.Result.Trace.Hash())
			}
			if traces[0] != traces[1] {
				t.Error("two runs differ")
			}
		})
	}
}

// TestVaultThroughTLS: Vault dials through TLS, and verifies the certificate by a file.
func TestVaultThroughTLS(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("the libraries connect by themselves; run it by: zksim go test -C wild ./...")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, sim.RootCA(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{Script: scenario.DefaultScript, Seed: 1,
		Workload: vaultWith(map[string]string{"tls_enabled": "true", "tls_ca_file": file})}
	o := play(t, s)
	if o.Property() != "" {
		t.Errorf("%s\n%s", o.Summary(), o.Story())
	}
	if play(t, s).Result.Trace.Hash() != o.Result.Trace.Hash() {
		t.Error("two runs differ")
	}
	s.Workload = vaultWith(map[string]string{"tls_enabled": "true"})
	if o := play(t, s); o.Property() == "" {
		t.Error("Vault accepts a certificate of an authority that it does not know")
	}
}

// TestRightWithoutFaults is the control: the libraries do as they promise if nothing goes wrong,
// but for those whose bug shows without faults.
func TestRightWithoutFaults(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("the libraries connect by themselves; run it by: zksim go test -C wild ./...")
	}
	for _, w := range libraries() {
		if slices.Contains([]string{"go-kit", "gost", "topicctl", "dapr", "libkv-watch", "confd",
			"curator-go", "go-zk-lock", "hertz-lookups"}, w.Impl) {
			continue
		}
		t.Run(w.Impl, func(t *testing.T) {
			o, err := saved.Play(scenario.Scenario{Workload: w, Script: scenario.DefaultScript,
				Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if property := o.Property(); property != "" {
				t.Errorf("%s is violated: %s", property, o.Summary())
			}
		})
	}
}
