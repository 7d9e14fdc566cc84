import {
  type Address,
  concat,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
  size,
  toFunctionSelector,
} from 'viem'

/**
 * Small contracts as bytecode written by hand, which needs no compiler. Tests set it with the
 * devnet.
 */

/** Uses up all gas it is given. JUMPDEST; PUSH1 0; JUMP. */
export const GAS_BURNER: Hex = '0x5b600056'

/** Reverts every call. PUSH1 0; PUSH1 0; REVERT. */
export const REVERTER: Hex = '0x60006000fd'

/**
 * Answers like `balanceOf` of a token, after using up about 100,000 gas: 3,846 rounds of 26 gas,
 * then the number stored for the requested account.
 */
export const COSTLY_TOKEN: Hex = '0x610f065b6001900380600357506004355460005260206000f3'

/** An answer: constant data, or the number stored for the requested account. */
type Answer = Hex | 'stored'

/** A token. Balances are in storage, at the slot that has the account's own number. */
export function tokenCode(answers: { readonly symbol: Hex; readonly decimals: Hex }): Hex {
  return respondingCode({
    'symbol()': answers.symbol,
    'decimals()': answers.decimals,
    'balanceOf(address)': 'stored',
  })
}

/** A `string` as a contract returns it. */
export function text(value: string): Hex {
  return encodeAbiParameters([{ type: 'string' }], [value])
}

/** A number as a contract returns it. */
export function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}

/**
 * A contract wallet that accepts what `owner`'s key signed.
 *
 * @see ERC-1271
 */
export function walletCode(owner: Address): Hex {
  return concat([
    '0x600435600052', // hash
    '0x60a43560001a602052', // v
    '0x606435604052', // r
    '0x608435606052', // s
    '0x60206080608060006001', // ecrecover, its answer at 0x80
    '0x5afa50',
    concat(['0x60805173', owner, '0x14']), // is it the owner?
    '0x631626ba7e60e01b02', // the magic value, or zero
    '0x60005260206000f3',
  ])
}

/** A factory that deploys a contract with this code at each call, and the contract's address. */
export function factoryOf(
  factory: Address,
  code: Hex,
): { readonly code: Hex; readonly deploys: Address } {
  const creation = creationOf(code)
  const length = numberToHex(size(creation), { size: 2 })
  const copy = concat(['0x61', length, '0x60136000', '0x39'])
  const create = concat(['0x600061', length, '0x60006000f500'])
  return {
    code: concat([copy, create, creation]),
    deploys: getContractAddress({
      opcode: 'CREATE2',
      from: factory,
      salt: pad('0x', { size: 32 }),
      bytecode: creation,
    }),
  }
}

/** Creation code of a contract with this runtime code. */
function creationOf(code: Hex): Hex {
  return concat(['0x61', numberToHex(size(code), { size: 2 }), '0x80600c6000396000f3', code])
}

/** Code that answers each function with the given answer, and reverts for any other. */
export function respondingCode(answers: Readonly<Record<string, Answer>>): Hex {
  const entries = Object.entries(answers)
  const head: Hex = '0x60003560e01c'
  const selectLength = 11
  const bodyLength = size(STORED_BODY)
  const bodiesAt = size(head) + entries.length * selectLength + size(REVERTER)
  const blobsAt = bodiesAt + entries.length * bodyLength
  let blobAt = blobsAt
  const selects: Hex[] = []
  const bodies: Hex[] = []
  const blobs: Hex[] = []
  for (const [index, [signature, answer]] of entries.entries()) {
    const bodyAt = numberToHex(bodiesAt + index * bodyLength, { size: 2 })
    // DUP1; PUSH4 selector; EQ; PUSH2 body; JUMPI
    selects.push(concat(['0x8063', toFunctionSelector(signature), '0x1461', bodyAt, '0x57']))
    const isStored = answer === 'stored'
    bodies.push(isStored ? STORED_BODY : constantBody(size(answer), blobAt))
    if (isStored) continue
    blobs.push(answer)
    blobAt += size(answer)
  }
  return concat([head, ...selects, REVERTER, ...bodies, ...blobs])
}

/** JUMPDEST; PUSH1 4; CALLDATALOAD; SLOAD; PUSH1 0; MSTORE; PUSH1 32; PUSH1 0; RETURN; padding */
const STORED_BODY: Hex = '0x5b6004355460005260206000f3000000'

/** JUMPDEST; PUSH2 length; PUSH2 at; PUSH1 0; CODECOPY; PUSH2 length; PUSH1 0; RETURN */
function constantBody(length: number, at: number): Hex {
  const lengthHex = numberToHex(length, { size: 2 })
  return concat([
    '0x5b61',
    lengthHex,
    '0x61',
    numberToHex(at, { size: 2 }),
    '0x60003961',
    lengthHex,
    '0x6000f3',
  ])
}
