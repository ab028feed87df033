"""Prints a config.json with some keys changed.

usage: edit-config.py CONFIG [KEY=JSON | KEY-]...     KEY- removes the key
"""
import json
import sys

with open(sys.argv[1]) as file:
    config = json.load(file)
for change in sys.argv[2:]:
    key, equals, value = change.partition("=")
    if equals:
        config[key] = json.loads(value)
    else:
        del config[change.removesuffix("-")]
json.dump(config, sys.stdout)
