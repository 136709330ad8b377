package main

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestTableShowsFiguresAndGaps: cells show figures, or that there is no measurement.
func TestTableShowsFiguresAndGaps(t *testing.T) {
	done := []*sweep{
		{library: oursName, recipe: "recipes.Lock", points: 81, survived: 81},
		{library: oursName, recipe: "zk.Lock", points: 63, survived: 39},
		{library: kazoo, recipe: "Lock", version: "kazoo 2.8.0", points: 71, survived: 71,
			flaky: []string{"x"}},
		{library: kazoo, recipe: "ReadLock, WriteLock", broken: "liveness"},
	}
	var b strings.Builder
	check.OK(t, printTable(&b, done))
	for _, want := range []string{
		"| kind | this project | Curator | kazoo 2.8.0 | Apache | go-zookeeper |\n",
		"| lock | fair, token, loss signal: 81 of 81 | fair, re-entrant: n. m. " +
			"| fair: 71 of 71 (1 flaky) | fair, by a listener: n. m. <sup>1</sup> " +
			"| fair: 39 of 63 <sup>2</sup> |\n",
		"| fair: fails without a fault <sup>3</sup> | - | - |\n",
	} {
		check.Contains(t, b.String(), want)
	}
}

// TestTableNamesRecipesThatAreMeasured: each recipe of the table is one that is
// played, and each that is played stands in the table.
func TestTableNamesRecipesThatAreMeasured(t *testing.T) {
	named := map[string]bool{}
	for _, r := range rows {
		for column, claims := range r.cells {
			for _, c := range claims {
				for _, recipe := range c.recipes {
					named[column+"/"+recipe] = true
				}
			}
		}
	}
	for _, l := range libraries {
		for _, rc := range l.recipes {
			if !named[l.name+"/"+rc.name] {
				t.Errorf("%s %s is measured but not in the table", l.name, rc.name)
			}
			delete(named, l.name+"/"+rc.name)
		}
	}
	for name := range named {
		if !strings.HasPrefix(name, oursName+"/") && name != client+"/zk.Lock" {
			t.Errorf("%s is in the table but not measured", name)
		}
	}
}
