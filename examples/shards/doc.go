// Package shards tests the files beside it, by which several machines share a hunt: an indexed Job
// of Kubernetes and a workflow of GitHub Actions.
package shards
