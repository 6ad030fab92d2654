/** How long a stream may stay open for the caller who opened it. */
import type { Principal } from "../../core/http/gate.js"
import type { Clock } from "../../store/port.js"

/** Runs `cut` when what the caller showed expires. Answers the function that calls it off. */
export function onExpiry(clock: Clock, principal: Principal | undefined, cut: () => void): () => void {
  const expiresAtMs = principal?.expiresAtMs
  return expiresAtMs === undefined ? () => {} : clock.after(Math.max(0, expiresAtMs - clock.now()), cut)
}
