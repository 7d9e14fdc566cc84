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

// Small contracts in hand-written bytecode, so that tests need no compiler. Tests install them on the local chain.

/** A contract that uses up all its gas. JUMPDEST; PUSH1 0; JUMP. */
export const GAS_BURNER: Hex = '0x5b600056'

/** A contract that reverts every call. PUSH1 0; PUSH1 0; REVERT. */
export const REVERTER: Hex = '0x60006000fd'

/**
 * A token of which `balanceOf` costs about 100,000 gas: a loop of 3,846 times 26 gas, then it returns the stored
 * balance.
 */
export const COSTLY_TOKEN: Hex = '0x610f065b6001900380600357506004355460005260206000f3'

/** What a function returns: constant data, or the value in the storage slot of its argument. */
type Answer = Hex | 'stored'

/** A token. The balance of an account is in the storage slot whose number is the account's address. */
export function tokenCode(answers: { readonly symbol: Hex; readonly decimals: Hex }): Hex {
  return respondingCode({
    'symbol()': answers.symbol,
    'decimals()': answers.decimals,
    'balanceOf(address)': 'stored',
  })
}

/** A `string` as a contract returns it. */
export function encodedString(value: string): Hex {
  return encodeAbiParameters([{ type: 'string' }], [value])
}

/** A number as a contract returns it. */
export function encodedNumber(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}

/**
 * A contract wallet that accepts signatures of `owner`.
 *
 * @see ERC-1271
 */
export function walletCode(owner: Address): Hex {
  return concat([
    '0x600435600052', // hash
    '0x60a43560001a602052', // v
    '0x606435604052', // r
    '0x608435606052', // s
    '0x60206080608060006001', // ecrecover, with its result at 0x80
    '0x5afa50',
    concat(['0x60805173', owner, '0x14']), // compare with the owner
    '0x631626ba7e60e01b02', // return 0x1626ba7e if equal, else 0
    '0x60005260206000f3',
  ])
}

/** A factory that deploys a contract with `code` at its first call, and the address of that contract. */
export function factoryOf(
  factory: Address,
  code: Hex,
): { readonly code: Hex; readonly deployedAddress: Address } {
  const creation = creationOf(code)
  const length = numberToHex(size(creation), { size: 2 })
  const copy = concat(['0x61', length, '0x60136000', '0x39'])
  const create = concat(['0x600061', length, '0x60006000f500'])
  return {
    code: concat([copy, create, creation]),
    deployedAddress: getContractAddress({
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

/** Code that returns the given answer of each function, and reverts a call of any other. */
export function respondingCode(answers: Readonly<Record<string, Answer>>): Hex {
  const entries = Object.entries(answers)
  const head: Hex = '0x60003560e01c'
  const selectorLength = 11
  const bodyLength = size(STORED_BODY)
  const bodiesAt = size(head) + entries.length * selectorLength + size(REVERTER)
  let constantAt = bodiesAt + entries.length * bodyLength
  const selectors: Hex[] = []
  const bodies: Hex[] = []
  const constants: Hex[] = []
  for (const [index, [signature, answer]] of entries.entries()) {
    const bodyAt = numberToHex(bodiesAt + index * bodyLength, { size: 2 })
    // DUP1; PUSH4 selector; EQ; PUSH2 body; JUMPI
    selectors.push(concat(['0x8063', toFunctionSelector(signature), '0x1461', bodyAt, '0x57']))
    const isStored = answer === 'stored'
    bodies.push(isStored ? STORED_BODY : constantBody(size(answer), constantAt))
    if (isStored) continue
    constants.push(answer)
    constantAt += size(answer)
  }
  return concat([head, ...selectors, REVERTER, ...bodies, ...constants])
}

/**
 * Returns the value of the slot that is the first argument. Padded to the length of the other body.
 * JUMPDEST; PUSH1 4; CALLDATALOAD; SLOAD; PUSH1 0; MSTORE; PUSH1 32; PUSH1 0; RETURN; padding.
 */
const STORED_BODY: Hex = '0x5b6004355460005260206000f3000000'

/**
 * Returns constant data from the code.
 * JUMPDEST; PUSH2 length; PUSH2 at; PUSH1 0; CODECOPY; PUSH2 length; PUSH1 0; RETURN.
 */
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
