"""Run llama.cpp's server on a free port and print its address.

python llama_server.py MODEL.gguf [PROJECTOR.gguf]
"""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.mmproj.path = "".join(sys.argv[2:])
parameters.n_ctx = 2048
parameters.cpuparams.n_threads = 1
parameters.verbosity = 0
parameters.port = 0
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
