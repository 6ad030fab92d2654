/** The command `npm run bench`: not written yet. */
console.error("bench/run.mjs: the benchmark is not written yet.")
process.exitCode = 1
