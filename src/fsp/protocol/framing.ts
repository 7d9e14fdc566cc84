/**
 * Calldata of the Submission contract: a selector, then frames of protocol, voting round and payload. The
 * contract does not check the frames, so they can contain anything.
 */

/** The FTSO's protocol id. */
export const FTSO_PROTOCOL = 100
/** The FDC's protocol id. */
export const FDC_PROTOCOL = 200

/** Submit functions by selector. */
export const FUNCTION_OF_SELECTOR = {
  '6c532fae': 'submit1',
  '9d00c9fd': 'submit2',
  '57eed580': 'submitSignatures',
} as const satisfies Readonly<Record<string, string>>
export type SubmitFunction = (typeof FUNCTION_OF_SELECTOR)[keyof typeof FUNCTION_OF_SELECTOR]

/** `submitAndPass(bytes)`, which carries fast updates. */
export const SUBMIT_AND_PASS_SELECTOR = '833bf6c0'

/** One protocol's part of a submission. */
export interface Frame {
  readonly protocol: number
  readonly round: number
  readonly payload: Uint8Array
}

/** A decoded submission, with the last frame of each protocol. */
export interface Submission {
  readonly function: SubmitFunction
  readonly frames: readonly Frame[]
}

const HEADER_BYTES = 7

/** The submit function that calldata calls; undefined for every other call. */
export function submitFunctionOf(input: string): SubmitFunction | undefined {
  const selector = input.slice(2, 10).toLowerCase()
  return selector in FUNCTION_OF_SELECTOR
    ? FUNCTION_OF_SELECTOR[selector as keyof typeof FUNCTION_OF_SELECTOR]
    : undefined
}

/**
 * Decodes the calldata of a submit function.
 *
 * @param input 0x-hex
 * @returns undefined for another function, or when a frame exceeds the data, which invalidates the whole
 * transaction
 */
export function decodeSubmission(input: string): Submission | undefined {
  const name = submitFunctionOf(input)
  if (name === undefined) return undefined
  const bytes = Buffer.from(input.slice(10), 'hex')
  if (bytes.length !== (input.length - 10) / 2) return undefined
  const frames = new Map<number, Frame>()
  for (let at = 0; at < bytes.length; ) {
    if (at + HEADER_BYTES > bytes.length) return undefined
    const protocol = bytes.readUInt8(at)
    const end = at + HEADER_BYTES + bytes.readUInt16BE(at + 5)
    if (end > bytes.length) return undefined
    frames.set(protocol, {
      protocol,
      round: bytes.readUInt32BE(at + 1),
      payload: bytes.subarray(at + HEADER_BYTES, end),
    })
    at = end
  }
  return { function: name, frames: [...frames.values()] }
}
