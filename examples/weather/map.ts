/** Draws the weather map: a small PNG image in which every station is a dot, blue where it is cold and red where it is warm. */
import { Buffer } from "node:buffer"
import { crc32, deflateSync } from "node:zlib"
import { report, type Station } from "./stations.js"

type Color = readonly [red: number, green: number, blue: number]

const SEA: Color = [226, 236, 244]
const EQUATOR: Color = [196, 211, 224]

/** The map as the bytes of a PNG file, `width` by `width / 2` pixels. */
export function drawMap(stations: readonly Station[], width = 180): Uint8Array {
  const height = width / 2
  const pixels = new Map<number, Color>()
  for (const station of stations) {
    const x = Math.round(((station.longitude + 180) / 360) * (width - 1))
    const y = Math.round(((90 - station.latitude) / 180) * (height - 1))
    for (const [dx, dy] of DOT) pixels.set((y + dy) * width + x + dx, colorOf(report(station).celsius))
  }
  const colorAt = (x: number, y: number): Color => pixels.get(y * width + x) ?? (y === height / 2 ? EQUATOR : SEA)
  return encodePng(width, height, colorAt)
}

const DOT = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => [dx, dy] as const))

function colorOf(celsius: number): Color {
  const warmth = Math.min(1, Math.max(0, celsius / 30))
  return [Math.round(255 * warmth), 64, Math.round(255 * (1 - warmth))]
}

/** Encodes pixels as a PNG image of 8 bits a channel. */
function encodePng(width: number, height: number, colorAt: (x: number, y: number) => Color): Uint8Array {
  const rows: number[] = []
  for (let y = 0; y < height; y++) {
    rows.push(0)
    for (let x = 0; x < width; x++) rows.push(...colorAt(x, y))
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const body = deflateSync(Uint8Array.from(rows))
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))])
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
