// Package zkclient has settings and hooks of the go-zookeeper client for the worlds.
package zkclient
