/** Sealing of what passes through a client: AES-256-GCM under keys derived from a ring of secrets. */
import { misuse } from "../../core/error/error.js"
import { decodeBase64Url, encodeBase64Url } from "../../core/http/base64.js"

/** What a seal is for; each purpose has keys of its own. */
export type SealPurpose = "requestState v1" | "event v1"

/** Why something could not be opened. An unknown key is told apart for the log only. */
export type Opened =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly cause: "malformed" | "unknown_key" | "tampered" }

/** Seals with the newest key, opens with all of the ring. Keys are drawn, if at all, when something is sealed. */
export interface KeyRing {
  seal(purpose: SealPurpose, text: string): Promise<string>
  open(purpose: SealPurpose, sealed: string): Promise<Opened>
}

/** The shortest secret, in bytes. */
const MIN_SECRET_BYTES = 32
const IV_BYTES = 12
const KEY_ID_BITS = 48
/** The version of the layout of what is sealed: it, a key id, and base64url of nonce and ciphertext, with dots between. */
const LAYOUT = "1"

interface RingKey {
  readonly id: string
  readonly material: CryptoKey
  readonly derived: Map<SealPurpose, Promise<CryptoKey>>
}

/**
 * Makes a ring. The first secret seals, all of them open. Nothing is drawn or derived before the first use.
 *
 * @throws `McpError` of kind `misuse` for a secret shorter than 32 bytes.
 */
export function createKeyRing(secrets: readonly (string | Uint8Array)[], draw: () => Uint8Array): KeyRing {
  const raw = secrets.map((secret) => (typeof secret === "string" ? new TextEncoder().encode(secret) : secret))
  for (const [index, secret] of raw.entries()) {
    if (secret.length >= MIN_SECRET_BYTES) continue
    throw misuse(
      "invalid_option",
      `secrets[${index}] has ${secret.length} bytes; at least ${MIN_SECRET_BYTES} are needed`,
    )
  }
  let ring: Promise<readonly RingKey[]> | undefined
  const keys = (first: readonly Uint8Array[]): Promise<readonly RingKey[]> => {
    ring ??= Promise.all(first.map(importSecret))
    return ring
  }
  return {
    async seal(purpose, text) {
      const [key] = await (ring ?? keys(raw.length === 0 ? [draw()] : raw))
      if (key === undefined) throw new Error("a ring has a key")
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const head = `${LAYOUT}.${key.id}`
      const parameters = { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(head) }
      const sealed = await crypto.subtle.encrypt(parameters, await derive(key, purpose), new TextEncoder().encode(text))
      const bytes = new Uint8Array(IV_BYTES + sealed.byteLength)
      bytes.set(iv)
      bytes.set(new Uint8Array(sealed), IV_BYTES)
      return `${head}.${encodeBase64Url(bytes)}`
    },
    async open(purpose, sealed) {
      const [layout, id, body = "", ...rest] = sealed.split(".")
      if (layout !== LAYOUT || id === undefined || rest.length > 0) return { ok: false, cause: "malformed" }
      const bytes = decodeBase64Url(body)
      if (bytes === undefined || bytes.length <= IV_BYTES) return { ok: false, cause: "malformed" }
      const known = ring ?? (raw.length === 0 ? [] : keys(raw))
      const key = (await known).find((candidate) => candidate.id === id)
      if (key === undefined) return { ok: false, cause: "unknown_key" }
      const additionalData = new TextEncoder().encode(`${layout}.${id}`)
      const parameters = { name: "AES-GCM", iv: bytes.slice(0, IV_BYTES), additionalData }
      try {
        const plain = await crypto.subtle.decrypt(parameters, await derive(key, purpose), bytes.slice(IV_BYTES))
        return { ok: true, text: new TextDecoder().decode(plain) }
      } catch {
        return { ok: false, cause: "tampered" }
      }
    },
  }
}

async function importSecret(secret: Uint8Array): Promise<RingKey> {
  const material = await crypto.subtle.importKey("raw", secret.slice(), "HKDF", false, ["deriveKey", "deriveBits"])
  const id = await crypto.subtle.deriveBits(hkdf("key id v1"), material, KEY_ID_BITS)
  return { id: encodeBase64Url(new Uint8Array(id)), material, derived: new Map() }
}

function hkdf(info: string): HkdfParams {
  return { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info: new TextEncoder().encode(info) }
}

function derive(key: RingKey, purpose: SealPurpose): Promise<CryptoKey> {
  const known = key.derived.get(purpose)
  if (known !== undefined) return known
  const algorithm = { name: "AES-GCM", length: 256 }
  const derived = crypto.subtle.deriveKey(hkdf(purpose), key.material, algorithm, false, ["encrypt", "decrypt"])
  key.derived.set(purpose, derived)
  return derived
}
/** The SHA-256 of a text, in base64url. */
export async function digestText(text: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))))
}

/** Random bits in base64url. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))
}
