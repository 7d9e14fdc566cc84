/** Keccak-256 as Ethereum uses it, and RLP. */

const ROUNDS = 24
const RATE_BYTES = 136

/** Round constants, low and high halves in turn. */
const CONSTANTS = new Int32Array(2 * ROUNDS)
/** Lanes in the order of the pi step, as places of their low halves, and the rotation of each. */
const LANES = new Int32Array(ROUNDS)
const ROTATIONS = new Int32Array(ROUNDS)

let register = 1
let [x, y] = [1, 0]
for (let round = 0; round < ROUNDS; round += 1) {
  ;[x, y] = [y, (2 * x + 3 * y) % 5]
  LANES[round] = 2 * (x + 5 * y)
  ROTATIONS[round] = (((round + 1) * (round + 2)) / 2) % 64
  let [low, high] = [0, 0]
  for (let bit = 0; bit < 7; bit += 1) {
    if (register & 1) {
      const place = (1 << bit) - 1
      if (place < 32) low ^= 1 << place
      else high ^= 1 << (place - 32)
    }
    register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1
  }
  CONSTANTS.set([low, high], 2 * round)
}

/** Sums of the columns, and the row that is being changed: low and high halves of five lanes each. */
const sums = new Int32Array(10)
const kept = new Int32Array(10)

const at = (array: Int32Array, index: number) => array[index] as number

function mixColumns(state: Int32Array): void {
  for (let i = 0; i < 10; i += 1) {
    sums[i] =
      at(state, i) ^ at(state, i + 10) ^ at(state, i + 20) ^ at(state, i + 30) ^ at(state, i + 40)
  }
  for (let column = 0; column < 10; column += 2) {
    const before = (column + 8) % 10
    const after = (column + 2) % 10
    const a = at(sums, after)
    const b = at(sums, after + 1)
    const low = at(sums, before) ^ ((a << 1) | (b >>> 31))
    const high = at(sums, before + 1) ^ ((b << 1) | (a >>> 31))
    for (let lane = column; lane < 50; lane += 10) {
      state[lane] = at(state, lane) ^ low
      state[lane + 1] = at(state, lane + 1) ^ high
    }
  }
}

function moveLanes(state: Int32Array): void {
  let low = at(state, 2)
  let high = at(state, 3)
  for (let i = 0; i < ROUNDS; i += 1) {
    const lane = at(LANES, i)
    const by = at(ROTATIONS, i)
    const shift = by & 31
    const from = by < 32 ? low : high
    const other = by < 32 ? high : low
    low = at(state, lane)
    high = at(state, lane + 1)
    state[lane] = shift === 0 ? from : (from << shift) | (other >>> (32 - shift))
    state[lane + 1] = shift === 0 ? other : (other << shift) | (from >>> (32 - shift))
  }
}

function mixRows(state: Int32Array): void {
  for (let row = 0; row < 50; row += 10) {
    for (let i = 0; i < 10; i += 1) kept[i] = at(state, row + i)
    for (let i = 0; i < 10; i += 1) {
      state[row + i] = at(kept, i) ^ (~at(kept, (i + 2) % 10) & at(kept, (i + 4) % 10))
    }
  }
}

/** Permutes the state: 25 lanes, each as low and high 32 bits. */
function permute(state: Int32Array): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    mixColumns(state)
    moveLanes(state)
    mixRows(state)
    state[0] = at(state, 0) ^ at(CONSTANTS, 2 * round)
    state[1] = at(state, 1) ^ at(CONSTANTS, 2 * round + 1)
  }
}

/** Keccak-256 of bytes. */
export function keccak(data: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((data.length + 1) / RATE_BYTES) * RATE_BYTES)
  padded.set(data)
  padded[data.length] = 1
  padded[padded.length - 1] = (padded.at(-1) as number) | 0x80
  const state = new Int32Array(50)
  for (let start = 0; start < padded.length; start += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES / 4; i += 1) {
      state[i] = at(state, i) ^ padded.readInt32LE(start + 4 * i)
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
