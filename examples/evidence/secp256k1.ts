/** Recovery of the signer of a digest. */
import { keccak } from './keccak.ts'

const P = 2n ** 256n - 2n ** 32n - 977n
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const G: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
]

/** A point in Jacobian coordinates; z is 0 at infinity. */
type Point = readonly [bigint, bigint, bigint]

function mod(value: bigint, by = P): bigint {
  const rest = value % by
  return rest < 0n ? rest + by : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, mod(base)]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

function invert(value: bigint, by: bigint): bigint {
  let [a, b, u, v] = [mod(value, by), by, 1n, 0n]
  while (b !== 0n) {
    const quotient = a / b
    ;[a, b, u, v] = [b, a - quotient * b, v, u - quotient * v]
  }
  return mod(u, by)
}

function double([x, y, z]: Point): Point {
  const yy = mod(y * y)
  const s = mod(4n * x * yy)
  const m = mod(3n * x * x)
  const nextX = mod(m * m - 2n * s)
  return [nextX, mod(m * (s - nextX) - 8n * yy * yy), mod(2n * y * z)]
}

function add(a: Point, b: Point): Point {
  const [x1, y1, z1] = a
  const [x2, y2, z2] = b
  if (z1 === 0n) return b
  if (z2 === 0n) return a
  const [zz1, zz2] = [mod(z1 * z1), mod(z2 * z2)]
  const [u1, u2] = [mod(x1 * zz2), mod(x2 * zz1)]
  const [s1, s2] = [mod(y1 * zz2 * z2), mod(y2 * zz1 * z1)]
  if (u1 === u2) return s1 === s2 ? double(a) : [1n, 1n, 0n]
  const [h, r] = [mod(u2 - u1), mod(s2 - s1)]
  const hh = mod(h * h)
  const hhh = mod(h * hh)
  const v = mod(u1 * hh)
  const x = mod(r * r - hhh - 2n * v)
  return [x, mod(r * (v - x) - s1 * hhh), mod(h * z1 * z2)]
}

/** The sum of two products, computed together: its doublings are the greatest part of either. */
function sumOfProducts(one: Point, byOne: bigint, other: Point, byOther: bigint): Point {
  const sum = add(one, other)
  let result: Point = [1n, 1n, 0n]
  for (let bit = 255n; bit >= 0n; bit -= 1n) {
    result = double(result)
    const isOfOne = (byOne >> bit) & 1n
    const isOfOther = (byOther >> bit) & 1n
    if (isOfOne && isOfOther) result = add(result, sum)
    else if (isOfOne) result = add(result, one)
    else if (isOfOther) result = add(result, other)
  }
  return result
}

function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

/** Signers by digest, signature and recovery: several steps of a check read the same transaction. */
const known = new Map<string, string | undefined>()

/**
 * Address that signed a digest, in lower case; undefined for an invalid signature.
 *
 * @param signature r and s, 64 bytes
 */
export function recoverSigner(
  digest: Uint8Array,
  signature: Uint8Array,
  recovery: number,
): string | undefined {
  const key = `${Buffer.concat([digest, signature]).toString('hex')} ${recovery}`
  if (!known.has(key)) known.set(key, recover(digest, signature, recovery))
  return known.get(key)
}

function recover(digest: Uint8Array, signature: Uint8Array, recovery: number): string | undefined {
  const [r, s] = [toNumber(signature.subarray(0, 32)), toNumber(signature.subarray(32, 64))]
  if (recovery < 0 || recovery > 3 || r === 0n || s === 0n || r >= N || s >= N) return undefined
  const x = recovery >= 2 ? r + N : r
  if (x >= P) return undefined
  const square = mod(x * x * x + 7n)
  const root = power(square, (P + 1n) / 4n)
  if (mod(root * root) !== square) return undefined
  const y = Number(root & 1n) === recovery % 2 ? root : P - root
  const inverse = invert(r, N)
  const byG = mod(-toNumber(digest) * inverse, N)
  const [keyX, keyY, keyZ] = sumOfProducts(G, byG, [x, y, 1n], mod(s * inverse, N))
  if (keyZ === 0n) return undefined
  const scale = invert(keyZ, P)
  const plain = [mod(keyX * scale * scale), mod(keyY * scale * scale * scale)].map(toBytes)
  return `0x${keccak(Buffer.concat(plain)).subarray(12).toString('hex')}`
}
