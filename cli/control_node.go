package cli

import (
	"fmt"
	"net/http"
	"strings"
)

var nodeEndpoints = []endpoint{
	{Method: "GET", Path: "/nodes/{path...}", Does: "one node", handle: getNode},
	{
		Method: "PUT", Path: "/nodes/{path...}", Takes: "the data, any bytes",
		Does: "create a node and its missing parents, or replace its data", handle: putNode,
	},
	{
		Method: "DELETE", Path: "/nodes/{path...}",
		Does: "delete a node and all below it", handle: deleteNode,
	},
}

func (r *controlRequest) noNode() error {
	return failure(http.StatusNotFound, "no node %s", r.arg)
}

func getNode(r *controlRequest) (any, error) {
	n, exists := r.Get(r.arg)
	if !exists {
		return nil, r.noNode()
	}
	return treeEntryOf(n), nil
}

func putNode(r *controlRequest) (any, error) {
	if err := checkOwn(r.arg); err != nil {
		return nil, err
	}
	data, err := readBody(r.Request, maxControlBody)
	if err != nil {
		return nil, err
	}
	if err := r.Put(r.arg, data); err != nil {
		return nil, err
	}
	return getNode(r)
}

func deleteNode(r *controlRequest) (any, error) {
	if err := checkOwn(r.arg); err != nil {
		return nil, err
	}
	if !r.Exists(r.arg) {
		return nil, r.noNode()
	}
	if err := r.Remove(r.arg); err != nil {
		return nil, err
	}
	return map[string]string{"deleted": r.arg}, nil
}

// checkOwn refuses changes of the server's own nodes.
func checkOwn(path string) error {
	if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
		return fmt.Errorf("node %s: it is the server's own", path)
	}
	return nil
}
