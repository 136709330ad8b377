package serve

import (
	"fmt"
	"net/http"
	"strings"
)

// path is the path of the requested node.
func (r *request) path() string { return "/" + r.PathValue("path") }

func (r *request) noNode() error {
	return failure(http.StatusNotFound, "no node %s", r.path())
}

func getNode(r *request) (nodeEntry, error) {
	n, exists := r.Get(r.path())
	if !exists {
		return nodeEntry{}, r.noNode()
	}
	return nodeEntryOf(n), nil
}

func putNode(r *request) (node nodeEntry, err error) {
	if err := checkOwn(r.path()); err != nil {
		return node, err
	}
	if err := r.Put(r.path(), r.body); err != nil {
		return node, err
	}
	return getNode(r)
}

type deletedEntry struct {
	Deleted string `json:"deleted" about:"what is gone"`
}

func deleteNode(r *request) (deleted deletedEntry, err error) {
	if err := checkOwn(r.path()); err != nil {
		return deleted, err
	}
	node, exists := r.Get(r.path())
	if !exists {
		return deleted, r.noNode()
	}
	if err := r.Remove(r.path()); err != nil {
		return deleted, err
	}
	if node.NumChildren > 0 {
		r.control.memory.freed()
	}
	return deletedEntry{r.path()}, nil
}

// checkOwn refuses changes of the server's own nodes.
func checkOwn(path string) error {
	if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
		return fmt.Errorf("node %s: it is the server's own", path)
	}
	return nil
}
