/** Subscriptions of a legacy session: what is asked about one resource is asked in order, however quickly minds change. */
import { describe, expect, it } from "vitest"
import { Changes } from "../../src/client/changes.js"
import { ChangeQueue } from "../../src/client/listen/queue.js"
import { Subscriptions } from "../../src/client/listen/session.js"

/** A host whose requests are answered when the test says so. */
function start() {
  const log: string[] = []
  const open: (() => void)[] = []
  const subscriptions = new Subscriptions({
    changes: new Changes(),
    isUp: () => true,
    deafness: () => undefined,
    watch: () => () => {},
    request(method, { uri }) {
      log.push(`${method.replace("resources/", "")} ${String(uri)}`)
      return new Promise((resolve) => open.push(() => resolve({})))
    },
  })
  const listen = (uri: string): (() => void) =>
    subscriptions.listen({ resourceSubscriptions: [uri] }, new ChangeQueue(() => {}))
  const answer = async (): Promise<void> => {
    open.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { log, listen, answer }
}

describe("a resource that is listened to in a legacy session", () => {
  it("and let go, and listened to again, is subscribed to once that it was let go is answered", async () => {
    const { log, listen, answer } = start()
    const stop = listen("note://1")
    await answer()
    stop()
    listen("note://1")
    expect(log).toEqual(["subscribe note://1", "unsubscribe note://1"])
    await answer()
    expect(log).toEqual(["subscribe note://1", "unsubscribe note://1", "subscribe note://1"])
  })

  it("and let go at once is let go once the subscription is answered", async () => {
    const { log, listen, answer } = start()
    listen("note://1")()
    expect(log).toEqual(["subscribe note://1"])
    await answer()
    expect(log).toEqual(["subscribe note://1", "unsubscribe note://1"])
  })

  it("and let go before its subscription is sent is not subscribed to", async () => {
    const { log, listen, answer } = start()
    const stop = listen("note://1")
    await answer()
    stop()
    listen("note://1")()
    await answer()
    await answer()
    expect(log).toEqual(["subscribe note://1", "unsubscribe note://1", "unsubscribe note://1"])
  })

  it("waits for no other resource", () => {
    const { log, listen } = start()
    listen("note://1")
    listen("note://2")
    expect(log).toEqual(["subscribe note://1", "subscribe note://2"])
  })
})
