import { type Hex, hexToBytes } from 'viem'

/** Text that fills a fixed number of bytes with zeros, as `bytes32` and feed ids hold it. */
export function paddedText(data: Hex): string {
  return new TextDecoder().decode(hexToBytes(data)).replace(/\0+$/, '')
}
