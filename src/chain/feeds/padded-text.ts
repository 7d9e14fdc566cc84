import { type Hex, hexToBytes } from 'viem'

/** Decodes text padded with zeros to a fixed number of bytes, as in `bytes32` and feed ids. */
export function decodePaddedText(data: Hex): string {
  return new TextDecoder().decode(hexToBytes(data)).replace(/\0+$/, '')
}
