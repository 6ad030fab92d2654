/** A module that prints while it is imported. */
console.log("a banner at import time")
process.stdout.write("[noisy] loaded\n")
