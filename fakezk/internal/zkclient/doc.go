// Package zkclient has what the worlds need of the go-zookeeper client.
package zkclient
