import qrcode from 'qrcode'

const OPTIONS = {
  type: 'png',
  errorCorrectionLevel: 'M',
  margin: 4,
  width: 640,
  // Without a given filter each of the five is tried for every line, in twice the time and for the same size.
  rendererOpts: { deflateLevel: 9, filterType: 4 },
} as const

/** A QR code as a PNG, with quiet zone and medium error correction. */
export function qrPicture(text: string): Promise<Buffer> {
  return qrcode.toBuffer(text, OPTIONS)
}
