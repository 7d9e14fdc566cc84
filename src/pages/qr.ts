import qrcode from 'qrcode'

/** A QR code as a data URL, with quiet zone and medium error correction. */
export async function qrImage(text: string): Promise<string> {
  const options = { type: 'svg', errorCorrectionLevel: 'M', margin: 4 } as const
  const svg = await qrcode.toString(text, options)
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
