/**
 * Loaded into the harness before it starts: supplies the `globSync` that `fs` lacks on Node 20 (the harness imports it for
 * a command that is not used here), and refuses every connection that would leave this machine.
 */
import { register } from "node:module"
import net from "node:net"

const fsWithGlob =
  'export * from "node:fs"; export { default } from "node:fs"; export { globSync } from "data:text/javascript,export const globSync = undefined"'
const hooks = `
  const shim = "data:text/javascript," + ${JSON.stringify(encodeURIComponent(fsWithGlob))}
  const harness = "/@modelcontextprotocol/conformance/"
  export const resolve = (specifier, context, next) =>
    specifier === "fs" && context.parentURL?.includes(harness) ? { url: shim, shortCircuit: true } : next(specifier, context)
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|::)$/
const connect = net.Socket.prototype.connect

/** The host that a call of `connect` names: Node passes an options object, a list that starts with one, or port and host. */
function hostOf(args: readonly unknown[]): string {
  const first: unknown = Array.isArray(args[0]) ? args[0][0] : args[0]
  const host = typeof first === "object" && first !== null && "host" in first ? first.host : args[1]
  return typeof host === "string" ? host : "localhost"
}

net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]): net.Socket {
  const host = hostOf(args)
  if (LOOPBACK.test(host)) return Reflect.apply(connect, this, args)
  const refusal = new Error(`The conformance harness may only reach this machine, not ${host}.`)
  process.nextTick(() => this.destroy(refusal))
  return this
}
