// Imported before a server: whatever it listens on becomes a free port of the loopback, which is told to whoever started it.
import { Server } from "node:net"

const { listen } = Server.prototype

Server.prototype.listen = function listenOnLoopback(...given) {
  const callback = given.findLast((argument) => typeof argument === "function")
  this.once("listening", () => process.send?.({ port: this.address().port }))
  return listen.call(this, 0, "127.0.0.1", callback)
}

process.on("disconnect", () => process.exit(0))
