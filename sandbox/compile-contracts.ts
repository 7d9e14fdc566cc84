import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import solc from 'solc'
import { z } from 'zod'

/** A compiled contract, stored beside its source. */
export interface CompiledContract {
  readonly abi: readonly unknown[]
  /** Creation code without the constructor's arguments. */
  readonly bytecode: `0x${string}`
}

const ROOT = join(import.meta.dirname, '..')
const SOURCES = ['src/chain/router/*.sol', 'sandbox/contracts/*.sol']
/** Paris is old enough for Flare to support all its instructions. Without metadata, equal code gives equal bytes. */
const SETTINGS = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

const Output = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).optional(),
  // Missing when compilation failed.
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(z.unknown()),
          evm: z.object({ bytecode: z.object({ object: z.string() }) }),
        }),
      ),
    )
    .default({}),
})

/**
 * Compiles every contract of this repository. The result is keyed by the path of its JSON file, which has
 * the contract's name and is beside its source. A source file has one contract, of the same name.
 *
 * @throws Error with every message of the compiler, including warnings
 */
export function compileContracts(): ReadonlyMap<string, CompiledContract> {
  const paths = globSync(SOURCES, { cwd: ROOT }).toSorted()
  const sources = Object.fromEntries(
    paths.map((path) => [path, { content: readFileSync(join(ROOT, path), 'utf8') }]),
  )
  const input = { language: 'Solidity', sources, settings: SETTINGS }
  const { errors = [], contracts } = Output.parse(JSON.parse(solc.compile(JSON.stringify(input))))
  if (errors.length > 0) {
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  }
  return new Map(
    paths.map((path) => {
      const name = basename(path, '.sol')
      const contract = contracts[path]?.[name]
      if (contract === undefined) throw new Error(`${path} has no contract ${name}`)
      const { abi, evm } = contract
      return [
        join(dirname(path), `${name}.json`),
        { abi, bytecode: `0x${evm.bytecode.object}` as const },
      ]
    }),
  )
}

/** JSON text of a compiled contract. */
export function toJson(contract: CompiledContract): string {
  return `${JSON.stringify(contract, undefined, 2)}\n`
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, contract] of compileContracts()) {
    writeFileSync(join(ROOT, path), toJson(contract))
  }
}
