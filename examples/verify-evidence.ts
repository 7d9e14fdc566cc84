// Checks the evidence of a data provider's alert against any endpoint. Node.js 24, no packages:
//   node verify-evidence.ts evidence.json https://… [https://…] [--registry 0x…] [--published passes.json]
//
// The file is the JSON of the alert's page of evidence, or of GET /alerts/{id}/evidence. Nothing in it is trusted:
// contracts, addresses, and weights are read from the chain, through Flare's contract registry, which has the
// same address on every network. Transactions, their senders and receipts are checked against the hash of their block.
// With several endpoints, they must agree about every block. Eligibility is not on the chain: --published is the
// file or the URL of the published calculation, with {epoch} for the number of the reward epoch.
//
// Exit code 0: the chain confirms the claim. 1: the chain refutes it. 2: it could not be checked.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkEvidence, type EvidenceVerdict } from './evidence/check.ts'
import { readerOf } from './evidence/published.ts'

const REGISTRY = '0xaD67FE66660Fb8dFE9d6b1b4240d8650e30F6019'

async function verify(): Promise<EvidenceVerdict> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      registry: { type: 'string', default: REGISTRY },
      published: { type: 'string' },
    },
  })
  const [file, ...urls] = positionals
  if (file === undefined || urls.length === 0) {
    return { code: 2, said: 'not checked: give a file and an endpoint' }
  }
  return checkEvidence(
    readFileSync(file, 'utf8'),
    urls,
    values.registry,
    readerOf(values.published),
  )
}

try {
  const { code, said } = await verify()
  const output = code === 0 ? process.stdout : process.stderr
  output.write(`${said}\n`)
  process.exitCode = code
} catch (error) {
  process.stderr.write(`not checked: ${(error as Error).message}\n`)
  process.exitCode = 2
}
