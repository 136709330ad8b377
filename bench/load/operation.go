package main

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// dataBytes is the size of the data of every znode.
const dataBytes = 100

// childCount is how many children the operation "children" lists.
const childCount = 100

var nodeData = []byte(strings.Repeat("d", dataBytes))

// An operation is a request that a worker repeats.
type operation struct {
	name string
	do   func(w *worker) error
}

// operations are those that are measured, in the order of the report.
var operations = []operation{
	{"get", getNode},
	{"exists", existsNode},
	{"set", setNode},
	{"create", createFresh},
	{"children", listChildren},
	{"multi", checkAndSet},
	{"mix", mostlyGet},
}

func operationNames() []string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = op.name
	}
	return names
}

// findOperations looks operations up by name.
func findOperations(names []string) ([]operation, error) {
	var found []operation
	for _, name := range names {
		before := len(found)
		for _, op := range operations {
			if op.name == name {
				found = append(found, op)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("no operation %q; there are %s",
				name, strings.Join(operationNames(), ", "))
		}
	}
	return found, nil
}

// A worker is one of the goroutines of a connection. It has its own nodes, so that
// workers meet only in the server.
type worker struct {
	conn     *zk.Conn
	node     string // it reads and sets this
	second   string // a multi sets this, too
	fresh    string // the parent of the nodes that it creates
	children string // a node with childCount children, shared by all
	made     int    // nodes created so far
	asked    int    // requests of a mix so far
}

func getNode(w *worker) error { _, _, err := w.conn.Get(w.node); return err }

func existsNode(w *worker) error {
	found, _, err := w.conn.Exists(w.node)
	if err == nil && !found {
		return zk.ErrNoNode
	}
	return err
}

func setNode(w *worker) error { _, err := w.conn.Set(w.node, nodeData, -1); return err }

func createFresh(w *worker) error {
	w.made++
	path := fmt.Sprintf("%s/%08d", w.fresh, w.made)
	_, err := w.conn.Create(path, nodeData, zk.FlagPersistent, openACL)
	return err
}

func listChildren(w *worker) error { _, _, err := w.conn.Children(w.children); return err }

func checkAndSet(w *worker) error {
	_, err := w.conn.Multi(
		&zk.CheckVersionRequest{Path: w.node, Version: -1},
		&zk.SetDataRequest{Path: w.node, Data: nodeData, Version: -1},
		&zk.SetDataRequest{Path: w.second, Data: nodeData, Version: -1},
	)
	return err
}

// mostlyGet is nine reads to a write.
func mostlyGet(w *worker) error {
	w.asked++
	if w.asked%10 == 0 {
		return setNode(w)
	}
	return getNode(w)
}
