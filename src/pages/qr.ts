import { createRequire } from 'node:module'

const requirePackage = createRequire(import.meta.url)

/** Longest text of a code whose dots a phone can still tell apart at the size of the pages. */
export const QR_LENGTH_MAX = 1000

/** A QR code as a data URL, with quiet zone and medium error correction. */
export async function qrImage(text: string): Promise<string> {
  const options = { type: 'svg', errorCorrectionLevel: 'M', margin: 4 } as const
  // Loaded by the first code.
  const qrcode: typeof import('qrcode') = requirePackage('qrcode')
  const svg = await qrcode.toString(text, options)
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
