import qrcode from 'qrcode'

/** A QR code as the address of an image: its quiet zone and error correction are those of screens 9.3. */
export async function qrImage(text: string): Promise<string> {
  const options = { type: 'svg', errorCorrectionLevel: 'M', margin: 4 } as const
  const svg = await qrcode.toString(text, options)
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
