/** The command `npm run conformance -- server|client`: not written yet. */
process.stderr.write("conformance/run.ts: the runner is not written yet.\n")
process.exitCode = 1
