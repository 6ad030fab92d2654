/** What a fetch handler has to know of the platform that it runs on. */
import type { Clock } from "../../store/port.js"

/**
 * Whether this is Workers, where nothing outlives the request that started it: a timer or a stream of one request is out of
 * reach for every other.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/web-standards/#navigatoruseragent
 */
export function isWorkers(): boolean {
  return typeof navigator === "object" && navigator.userAgent === "Cloudflare-Workers"
}

/** A clock whose every deadline is a timer of its own, which belongs to the request that asked for it. */
export function createRequestClock(): Clock {
  return {
    isBound: true,
    now: () => Date.now(),
    after(delayMs, task) {
      const timer = setTimeout(task, delayMs)
      return () => clearTimeout(timer)
    },
  }
}
