package object

import (
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// Env is what a client gives to the code under test when it opens an object.
type Env struct {
	// Conn is the client's connection, and the client's alone.
	Conn *zk.Conn
	// Name is a name for the object's owner that no other client has.
	Name string
	// Path is where the object is to be: judges look there and below.
	Path string
	// Paths are those of an object with several, in the client's own order.
	Paths []string
	// Size is the number of members of a group.
	Size int
}

// InTurn is Conn for an object that several goroutines of the client share: each of its
// requests waits for the turn of the goroutine, so that two runs of a seed are equal.
func (e Env) InTurn() recipes.Conn { return inTurn{e.Conn} }

// opener opens an object at a path for a player.
func opener[T any](open func(Env) T, path string) func(*scenario.Player) T {
	return func(p *scenario.Player) T {
		return open(Env{Conn: p.Conn(), Name: p.Name(), Path: path})
	}
}

// only is the one optional argument, or the zero value.
func only[T any](given []T) T {
	if len(given) > 1 {
		panic(fmt.Sprintf("object: at most one set of claims, got %d", len(given)))
	}
	var none T
	for _, one := range given {
		return one
	}
	return none
}
