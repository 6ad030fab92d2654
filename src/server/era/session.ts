/** The legacy era's sessions: what the handshake leaves behind, how long it is kept, and whose it is. */
import type { InFlight, Sink } from "../../core/exchange.js"
import type { LogLevel } from "../../core/feature/log-level.js"
import type { Principal } from "../../core/http/gate.js"
import type { Limits } from "../../core/limits.js"
import type { Implementation } from "../../core/model/identity.js"
import { negotiateVersion } from "../../core/negotiate/version.js"
import { findRevision } from "../../core/revision/table.js"
import { isObject, type JsonObject, type RequestId } from "../../core/wire/message.js"
import type { Topics } from "../../observe/emitter.js"
import type { ServerEvents, SessionEnd } from "../../observe/event.js"
import type { Clock, MaybePromise, Store } from "../../store/port.js"
import { createOutbox, type Outbox } from "../input/outbox.js"
import type { Keeping } from "../stream/resumable.js"
import { SessionReader, type SessionReaderParts } from "../stream/session-reader.js"
import { SessionStreams } from "../stream/session-streams.js"
import { beginSession, clientOf } from "../watch.js"

/** What tells one caller from another. */
export type Identity = Pick<Principal, "id" | "issuer" | "clientId" | "strategy">

/** What is kept of a session where other nodes can read it. */
export interface SessionRecord {
  readonly version: string
  readonly capabilities: JsonObject
  readonly clientInfo: Implementation | undefined
  /** Who opened it, and nothing more of them. */
  readonly principal: Identity | undefined
  readonly logLevel: LogLevel | undefined
}

/** A live session, over HTTP or on a pipe. Its request ids are unique within it. */
export interface Session {
  /** Empty on a pipe, which needs no id. */
  readonly id: string
  record: SessionRecord
  readonly inFlight: Map<RequestId, InFlight>
  /** What the server has asked in it. */
  readonly outbox: Outbox
  /** The way for messages outside any call. */
  readonly sink: Sink
  /** What it hears of changes. */
  readonly reader: SessionReader
  /** Its event streams; undefined on a pipe. */
  readonly streams: SessionStreams | undefined
  /** Tells that it ended; undefined when nobody listens. */
  readonly told: ((why: SessionEnd) => void) | undefined
  seenAtMs: number
  storedAtMs: number
}

/** What an endpoint has for its sessions. */
export interface SessionHost {
  readonly clock: Clock
  readonly readers: SessionReaderParts
  /** How streams are kept for clients that come back; undefined when they are not. */
  readonly keeping: Omit<Keeping, "session" | "clock"> | undefined
  readonly topics: Topics<ServerEvents>
}

/** How a session begins: on a pipe, or over HTTP; opened here, or by another node. */
export interface SessionStart {
  readonly pipe?: Sink | undefined
  readonly resumed?: boolean
}

/** A session with this record, not yet kept anywhere. */
export function createSession(
  host: SessionHost,
  id: string,
  record: SessionRecord,
  { pipe, resumed = false }: SessionStart = {},
): Session {
  const { clock } = host
  const nowMs = clock.now()
  const resumes = findRevision(record.version)?.resumes === true
  const keeping = host.keeping === undefined || !resumes ? undefined : { ...host.keeping, clock, session: id }
  const streams = new SessionStreams(clock, keeping)
  const sink = pipe ?? streams
  return {
    id,
    record,
    inFlight: new Map(),
    outbox: createOutbox(),
    sink,
    reader: new SessionReader(host.readers, sink),
    streams: pipe === undefined ? streams : undefined,
    told: beginSession(host.topics, id, record, resumed),
    seenAtMs: nowMs,
    storedAtMs: nowMs,
  }
}

const REASONS: Readonly<Record<SessionEnd, string>> = {
  ended: "the session ended",
  expired: "the session was idle",
  disconnected: "the connection closed",
  stopped: "the server stopped",
}

/** Cancels what runs in a session, closes its streams, and forgets what it wanted to hear. */
export function endSession(session: Session, why: SessionEnd): void {
  cancelAll(session.inFlight, REASONS[why])
  session.reader.close()
  session.streams?.close()
  session.told?.(why)
}

/** The sessions of one endpoint. */
export interface Sessions {
  /** Opens a session, or answers undefined when there is no room for one. */
  open(record: SessionRecord): MaybePromise<Session | undefined>
  /** The live session with this id that belongs to this principal; anybody else's is as good as none. */
  find(id: string, principal: Principal | undefined): MaybePromise<Session | undefined>
  /** Writes what changed in the session's record. */
  save(session: Session): void
  /** Ends a session: cancels what runs in it, and closes its streams. */
  end(session: Session): MaybePromise<boolean>
  /** Ends the streams that stand by in every session. */
  endStreams(): void
  /** Cancels what runs in every session and closes its streams, without ending it in the store. */
  close(): void
}

/** The parts that {@link createSessions} is made of. */
export interface SessionsOptions {
  readonly store: Store
  readonly limits: Limits
  readonly host: SessionHost
  /** Hears of what could not be written. */
  readonly report: (error: unknown) => void
}

/** Sessions over a store, with those of this node at hand. Idle ones are let go; an unknown id never allocates. */
export function createSessions({ store, limits, host, report }: SessionsOptions): Sessions {
  const { clock } = host
  const live = new Map<string, Session>()
  const ttlMs = limits.sessionIdleMs
  let opening = 0
  let stopSweep: (() => void) | undefined

  const key = (id: string): string => `session:${id}`

  const isIdle = (session: Session): boolean =>
    session.inFlight.size === 0 && session.streams?.isHeard !== true && session.seenAtMs + ttlMs <= clock.now()

  const drop = (session: Session): void => {
    live.delete(session.id)
    endSession(session, "expired")
  }

  const dropIdle = (): void => {
    for (const session of live.values()) {
      if (isIdle(session)) drop(session)
      else if (session.streams?.isHeard === true) see(session)
    }
  }

  const sweep = (): void => {
    dropIdle()
    stopSweep = live.size === 0 ? undefined : clock.after(ttlMs / 4, sweep)
  }

  const keep = (session: Session): Session => {
    live.set(session.id, session)
    stopSweep ??= clock.after(ttlMs / 4, sweep)
    return session
  }

  const write = (session: Session): void => {
    session.storedAtMs = clock.now()
    try {
      const written = store.set(key(session.id), JSON.stringify(session.record), { ttlMs })
      if (written instanceof Promise) written.catch(report)
    } catch (error) {
      report(error)
    }
  }

  const see = (session: Session): void => {
    session.seenAtMs = clock.now()
    if (session.seenAtMs - session.storedAtMs > ttlMs / 4) write(session)
  }

  const touch = (session: Session, principal: Principal | undefined): Session | undefined => {
    if (!isSamePrincipal(session.record.principal, principal)) return undefined
    see(session)
    return session
  }

  /** A session that another node opened. Several messages may ask for it at once: they share one. */
  const load = (id: string, value: string | undefined, principal: Principal | undefined): Session | undefined => {
    const known = live.get(id)
    if (known !== undefined) return touch(known, principal)
    const record = value === undefined ? undefined : readRecord(value)
    if (record === undefined || !isSamePrincipal(record.principal, principal)) return undefined
    return keep(createSession(host, id, record, { resumed: true }))
  }

  const refuse = ({ version, clientInfo }: SessionRecord): undefined => {
    const topic = host.topics["server.session_refused"]
    if (topic.watched) topic.publish({ revision: version, client: clientOf(clientInfo) })
  }

  const isFull = ({ principal }: SessionRecord): boolean =>
    live.size + opening >= limits.maxSessions || hasMany(live, principal, limits.maxSessionsPerPrincipal)

  return {
    open(record) {
      if (isFull(record)) dropIdle()
      if (isFull(record)) return refuse(record)
      const id = randomId()
      const finish = (written: boolean): Session | undefined =>
        written ? keep(createSession(host, id, record)) : undefined
      const written = store.set(key(id), JSON.stringify(record), { ttlMs, if: "absent" })
      if (!(written instanceof Promise)) return finish(written)
      opening++
      return written.finally(() => opening--).then(finish)
    },
    find(id, principal) {
      const session = live.get(id)
      if (session !== undefined) {
        if (!isIdle(session)) return touch(session, principal)
        drop(session)
      }
      const stored = store.get(key(id))
      return stored instanceof Promise
        ? stored.then((found) => load(id, found?.value, principal))
        : load(id, stored?.value, principal)
    },
    save: write,
    end(session) {
      live.delete(session.id)
      endSession(session, "ended")
      return store.delete(key(session.id))
    },
    endStreams() {
      for (const { streams } of live.values()) streams?.endStandby()
    },
    close() {
      stopSweep?.()
      for (const session of live.values()) endSession(session, "stopped")
      live.clear()
    },
  }
}

/** Whether a principal has so many sessions. Those of nobody in particular are not counted. */
function hasMany(live: ReadonlyMap<string, Session>, principal: Identity | undefined, most: number): boolean {
  if (principal === undefined || live.size < most) return false
  let own = 0
  for (const { record } of live.values()) if (isSamePrincipal(record.principal, principal)) own++
  return own >= most
}

/** A record as it was written; undefined for what is none, such as that of another release. */
function readRecord(value: string): SessionRecord | undefined {
  try {
    const record = JSON.parse(value) as SessionRecord
    return negotiateVersion(record.version) === undefined || !isObject(record.capabilities) ? undefined : record
  } catch {
    return undefined
  }
}

/** Cancels everything in a table of running requests. */
export function cancelAll(inFlight: Map<RequestId, InFlight>, reason: string): void {
  for (const running of [...inFlight.values()]) running.cancel(reason)
  inFlight.clear()
}

/** The identity of a caller, without scopes and claims. */
export function identityOf({ id, issuer, clientId, strategy }: Principal): Identity {
  return {
    id,
    ...(issuer === undefined ? {} : { issuer }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(strategy === undefined ? {} : { strategy }),
  }
}

/** Whether two callers are one: same id, from the same issuer, through the same client. Nobody equals only nobody. */
export function isSamePrincipal(one: Identity | undefined, other: Identity | undefined): boolean {
  return (
    one?.id === other?.id &&
    one?.issuer === other?.issuer &&
    one?.clientId === other?.clientId &&
    one?.strategy === other?.strategy
  )
}

/** 128 random bits in visible ASCII. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
