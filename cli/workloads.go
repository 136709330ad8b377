package cli

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/scenario"
)

// newApp is the environment with the workloads: the built-in ones and those of the program.
func newApp(env *command.Env, own []scenario.Workload) (*app, error) {
	for _, w := range own {
		if w.Name == allWorkloads {
			return nil, fmt.Errorf("workload %s %s: %q stands for all workloads; expected another name",
				w.Name, w.Impl, allWorkloads)
		}
	}
	own = named(own, env.Name)
	workloads, err := builtin.Workloads().With(own...)
	if err != nil {
		return nil, err
	}
	files, err := gallery.Catalogue().With(own...)
	return &app{env, workloads, files}, err
}

// named returns the workloads, and gives those that have no name of their implementation the name
// of the program: mylock, and mylock-2 for the second of the same kind.
func named(workloads []scenario.Workload, program string) []scenario.Workload {
	workloads = slices.Clone(workloads)
	for i, w := range workloads {
		for n := 1; w.Impl == ""; n++ {
			if name := numbered(program, n); !has(workloads, w.Name, name) {
				w.Impl = name
			}
		}
		workloads[i] = w
	}
	return workloads
}

// numbered is the n-th name of a row: mylock, mylock-2, mylock-3.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// has reports whether the workloads have one of this kind and implementation.
func has(workloads []scenario.Workload, kind, impl string) bool {
	return slices.ContainsFunc(workloads, func(w scenario.Workload) bool {
		return w.Name == kind && w.Impl == impl
	})
}
