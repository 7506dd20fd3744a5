"""Bring benchmarks and models here: from a hub by commit, or from an address by checksum."""
