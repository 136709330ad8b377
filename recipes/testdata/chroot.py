"""Sends the requests of its standard input by kazoo, with a chroot, and prints the answers.

Usage: chroot.py HOST:PORT/CHROOT <requests
"""
import queue
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

client = KazooClient(hosts=sys.argv[1])
client.start()
fired = queue.Queue()


def watch(event):
    fired.put("%s %s" % (event.type, event.path))


def transaction(words):
    t = client.transaction()
    for word in words:
        kind, path = word.split(":")
        if kind == "create":
            t.create(path)
        elif kind == "sequential":
            t.create(path, sequence=True)
        elif kind == "set":
            t.set_data(path, b"")
        elif kind == "check":
            t.check(path, -1)
        else:
            t.delete(path)
    return " ".join(answer(r) for r in t.commit())


def answer(result):
    if isinstance(result, KazooException):
        return type(result).__name__
    return result if isinstance(result, str) else "ok"


def send(kind, path, *more):
    if kind == "create":
        return client.create(path)
    if kind == "sequential":
        return client.create(path, sequence=True)
    if kind == "container":
        return client.create(path)  # kazoo 2.8 makes no containers: the paths are the same
    if kind == "get":
        client.get(path, watch=watch)
    elif kind == "set":
        client.set(path, b"")
    elif kind == "exists":
        return "yes" if client.exists(path, watch=watch) else "no"
    elif kind == "children":
        return " ".join(sorted(client.get_children(path, watch=watch)))
    elif kind == "delete":
        client.delete(path)
    elif kind == "sync":
        return client.sync(path)
    elif kind == "multi":
        return transaction((path,) + more)
    elif kind == "event":
        return fired.get(timeout=10)
    return "ok"


for line in sys.stdin:
    try:
        print(send(*line.split()))
    except KazooException as e:
        print(type(e).__name__)
client.stop()
