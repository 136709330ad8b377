"""Takes the lock /locks/report by kazoo, without a user and then as bob by SASL.

Usage: sasl.py HOST:PORT
"""
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

bob = {"mechanism": "DIGEST-MD5", "username": "bob", "password": "secret"}
for options in None, bob:
    client = KazooClient(hosts=sys.argv[1], sasl_options=options)
    client.start()
    try:
        lock = client.Lock("/locks/report", "bob")
        print(lock.acquire(timeout=10))
        lock.release()
    except NoAuthError:
        print("NoAuthError")
    client.stop()
