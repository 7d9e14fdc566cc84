import { globSync, readFileSync } from 'node:fs'
import { hexToBytes } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { type CompiledContract, compileContracts, toJson } from '#sandbox/compile-contracts.ts'
import { ROUTER_ABI } from '#src/chain/contracts.ts'
import router from '#src/chain/router/PrepaidRouter.json' with { type: 'json' }
import { every } from '../support/every.ts'
import { AGREED_ROUTER_ABI } from './router-abi.ts'

const COMMITTED = globSync(['src/chain/router/*.json', 'sandbox/contracts/*.json']).toSorted()

let compiled: ReadonlyMap<string, CompiledContract>

beforeAll(() => {
  compiled = compileContracts()
})

describe('a committed contract', () => {
  test('has a source file', () => {
    expect(COMMITTED.length).toBeGreaterThan(5)
    expect(COMMITTED).toEqual([...compiled.keys()].toSorted())
  })

  test('equals its compiled source', () =>
    every(COMMITTED, (path) => {
      const contract = compiled.get(path)
      expect(contract && toJson(contract)).toBe(readFileSync(path, 'utf8'))
    }))

  test('needs no instruction newer than Paris', () =>
    every(COMMITTED, (path) => {
      expect([...instructionsOf(compiled.get(path)?.bytecode ?? '0x')]).not.toContain(PUSH0)
    }))
})

describe("the router's interface", () => {
  test('equals the agreed interface', () => {
    for (const entry of AGREED_ROUTER_ABI) expect(shapes(router.abi)).toContainEqual(shapeOf(entry))
    const functions = router.abi.filter(({ type }) => type === 'function')
    expect(functions).toHaveLength(
      AGREED_ROUTER_ABI.filter(({ type }) => type === 'function').length,
    )
    // It accepts coins only for a top-up.
    expect(router.abi.map(({ type }) => type)).not.toContain('receive')
    expect(router.abi.map(({ type }) => type)).not.toContain('fallback')
    const payable = router.abi.filter((entry) => entry.stateMutability === 'payable')
    expect(payable.map(({ name }) => name)).toEqual(['payNative'])
  })

  test('has the functions and errors that the service reads', () => {
    for (const entry of ROUTER_ABI) expect(shapes(router.abi)).toContainEqual(shapeOf(entry))
    const errors = (abi: readonly { readonly type: string }[]) =>
      abi.filter(({ type }) => type === 'error').length
    expect(errors(ROUTER_ABI)).toBe(errors(router.abi))
  })
})

const PUSH0 = 0x5f
const PUSH1 = 0x60
const PUSH32 = 0x7f

/** Every instruction of a code, without the data they push. */
function* instructionsOf(code: `0x${string}`): Generator<number> {
  const bytes = hexToBytes(code)
  for (let at = 0; at < bytes.length; at += 1) {
    const instruction = bytes[at] ?? 0
    yield instruction
    if (instruction >= PUSH1 && instruction <= PUSH32) at += instruction - PUSH1 + 1
  }
}

interface Entry {
  readonly type: string
  readonly name?: string
  readonly inputs?: readonly Parameter[]
  readonly outputs?: readonly Parameter[]
}

interface Parameter {
  readonly type: string
  readonly name?: string
  readonly indexed?: boolean
}

function shapes(abi: readonly Entry[]) {
  return abi.map(shapeOf)
}

function shapeOf({ type, name, inputs = [], outputs = [] }: Entry) {
  return {
    type,
    name,
    inputs: inputs.map((input) => [input.type, input.name, input.indexed ?? false]),
    outputs: outputs.map((output) => output.type),
  }
}
