/** The example server that `npm start` runs: not written yet. */
process.stderr.write("examples/weather/server.ts: the example server is not written yet.\n")
process.exitCode = 1
