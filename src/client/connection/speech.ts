/** How a client speaks once it is known which revision the server speaks: what every request says of the client. */
import { createEnvelope, type Envelope } from "../../core/feature/envelope.js"
import type { LogLevel } from "../../core/feature/log-level.js"
import { clientCapabilities } from "../../core/negotiate/client-capabilities.js"
import type { Revision } from "../../core/revision/revision.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { CallSettings } from "../call.js"
import type { ClientSettings } from "../settings.js"

/** The words of one client in one revision. */
export interface Speech {
  /** The params of a request as they go out. */
  write(params: JsonObject | undefined, facts: SpokenFacts): JsonObject | undefined
}

/** What goes with one request. */
export interface SpokenFacts {
  readonly settings: CallSettings
  readonly progressToken: number | undefined
  readonly traceparent: string | undefined
  readonly logLevel: LogLevel | undefined
}

/** Makes the {@link Speech} of a client. `version` is what it says that it speaks. */
export function createSpeech(settings: ClientSettings, revision: Revision, version: string): Speech {
  const write = envelopeOf(settings, revision, version)
  return {
    write(params, { settings: { extensions }, progressToken, traceparent, logLevel }) {
      const declared = extensions === undefined ? undefined : capabilitiesOf(settings, revision, extensions)
      return write(params, { clientCapabilities: declared, progressToken, traceparent, logLevel })
    },
  }
}

/** The params of a modern request that has none of its own. */
export function bareParams(settings: ClientSettings, revision: Revision): JsonObject {
  return envelopeOf(settings, revision, revision.version)(undefined, {}) ?? {}
}

/** The params of the handshake of the legacy era. */
export function initializeParams(settings: ClientSettings, revision: Revision): JsonObject {
  return {
    protocolVersion: revision.version,
    capabilities: capabilitiesOf(settings, revision),
    clientInfo: revision.encode.implementation(settings.clientInfo),
  }
}

function envelopeOf(settings: ClientSettings, revision: Revision, version: string): Envelope {
  return createEnvelope({
    era: revision.era,
    version,
    clientCapabilities: capabilitiesOf(settings, revision),
    clientInfo: revision.encode.implementation(settings.clientInfo),
  })
}

/** What a client declares in a revision, and with `more` extensions. */
export function capabilitiesOf(
  { handlers, capabilityOptions }: ClientSettings,
  revision: Revision,
  more?: JsonObject,
): JsonObject {
  const { era, form } = revision
  const extensions = more === undefined ? capabilityOptions.extensions : { ...capabilityOptions.extensions, ...more }
  const samplingTools = capabilityOptions.samplingTools && revision.samplingTools
  return clientCapabilities(handlers, {
    ...capabilityOptions,
    era,
    extensions,
    samplingTools,
    elicitationModes: form.modes,
  })
}
