/** Keccak-256 as Ethereum uses it, and RLP. */

const ROUNDS = 24
const RATE_BYTES = 136

/** Round constants, low and high halves, and the rotations of the 25 lanes in the order of the pi step. */
const CONSTANTS: [number, number][] = []
const ROTATIONS: number[] = []
const LANES: number[] = []

let register = 1
let [x, y] = [1, 0]
for (let round = 0; round < ROUNDS; round += 1) {
  ;[x, y] = [y, (2 * x + 3 * y) % 5]
  LANES.push(x + 5 * y)
  ROTATIONS.push((((round + 1) * (round + 2)) / 2) % 64)
  let [low, high] = [0, 0]
  for (let bit = 0; bit < 7; bit += 1) {
    if (register & 1) {
      const place = (1 << bit) - 1
      if (place < 32) low ^= 1 << place
      else high ^= 1 << (place - 32)
    }
    register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1
  }
  CONSTANTS.push([low, high])
}

/** Permutes the state: 25 lanes, each as low and high 32 bits. */
function permute(state: Int32Array): void {
  const sums = new Int32Array(10)
  const get = (index: number) => state[index] as number
  for (const [low, high] of CONSTANTS) {
    for (let i = 0; i < 10; i += 1) {
      sums[i] = get(i) ^ get(i + 10) ^ get(i + 20) ^ get(i + 30) ^ get(i + 40)
    }
    for (let column = 0; column < 5; column += 1) {
      const before = ((column + 4) % 5) * 2
      const after = ((column + 1) % 5) * 2
      const [a, b] = [sums[after] as number, sums[after + 1] as number]
      const addLow = (sums[before] as number) ^ ((a << 1) | (b >>> 31))
      const addHigh = (sums[before + 1] as number) ^ ((b << 1) | (a >>> 31))
      for (let row = 0; row < 50; row += 10) {
        state[row + column * 2] = get(row + column * 2) ^ addLow
        state[row + column * 2 + 1] = get(row + column * 2 + 1) ^ addHigh
      }
    }
    let [keptLow, keptHigh] = [get(2), get(3)]
    for (let i = 0; i < ROUNDS; i += 1) {
      const at = (LANES[i] as number) * 2
      const [nextLow, nextHigh] = [get(at), get(at + 1)]
      const by = ROTATIONS[i] as number
      const [from, other] = by < 32 ? [keptLow, keptHigh] : [keptHigh, keptLow]
      const shift = by % 32
      state[at] = shift === 0 ? from : (from << shift) | (other >>> (32 - shift))
      state[at + 1] = shift === 0 ? other : (other << shift) | (from >>> (32 - shift))
      ;[keptLow, keptHigh] = [nextLow, nextHigh]
    }
    for (let row = 0; row < 50; row += 10) {
      const lane = state.slice(row, row + 10)
      for (let i = 0; i < 10; i += 1) {
        const [one, two] = [lane[(i + 2) % 10] as number, lane[(i + 4) % 10] as number]
        state[row + i] = (lane[i] as number) ^ (~one & two)
      }
    }
    state[0] = get(0) ^ low
    state[1] = get(1) ^ high
  }
}

/** Keccak-256 of bytes. */
export function keccak(data: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((data.length + 1) / RATE_BYTES) * RATE_BYTES)
  padded.set(data)
  padded[data.length] = 1
  padded[padded.length - 1] = (padded.at(-1) as number) | 0x80
  const state = new Int32Array(50)
  for (let at = 0; at < padded.length; at += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES / 4; i += 1) {
      state[i] = (state[i] as number) ^ padded.readInt32LE(at + 4 * i)
    }
    permute(state)
  }
  return Buffer.from(state.buffer, 0, 32)
}

/** An item of RLP: bytes, or a list of items. */
export type Item = Uint8Array | readonly Item[]

/** Encodes an item. */
export function rlp(item: Item): Buffer {
  if (item instanceof Uint8Array) {
    const [first] = item
    if (item.length === 1 && first !== undefined && first < 0x80) return Buffer.from(item)
    return Buffer.concat([prefix(item.length, 0x80), item])
  }
  const body = Buffer.concat(item.map(rlp))
  return Buffer.concat([prefix(body.length, 0xc0), body])
}

function prefix(length: number, offset: number): Buffer {
  if (length < 56) return Buffer.from([offset + length])
  const bytes = numberBytes(BigInt(length))
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}

/** The shortest big-endian bytes of a number; none for 0. */
export function numberBytes(value: bigint): Buffer {
  const hex = value === 0n ? '' : value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
