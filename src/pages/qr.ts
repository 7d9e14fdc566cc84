import { createRequire } from 'node:module'

const requirePackage = createRequire(import.meta.url)

/** Longest text of a code: the points of a larger one are too small for a camera, and 2,331 bytes fit into none. */
const BYTES_MAX = 1000

/** A QR code as a data URL, with quiet zone and medium error correction; undefined for a text that is too long for one. */
export async function qrImage(text: string): Promise<string | undefined> {
  if (Buffer.byteLength(text) > BYTES_MAX) return undefined
  const options = { type: 'svg', errorCorrectionLevel: 'M', margin: 4 } as const
  // Loaded by the first code.
  const qrcode: typeof import('qrcode') = requirePackage('qrcode')
  const svg = await qrcode.toString(text, options)
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
