// Checks the evidence of a data provider's alert against any endpoint. Node.js 24, no packages:
//   node verify-evidence.ts evidence.json https://… https://… [--registry 0x…] [--published passes.json]
//     [--p-chain https://…/ext/bc/P] [--message webhook.json]
//
// The file is the JSON of the alert's page of evidence, or of GET /alerts/{id}/evidence. Nothing in it is trusted:
// contracts, addresses, and weights are read from the chain, through Flare's contract registry, which has the
// same address on every network. Transactions, their senders and receipts are checked against the hash of their block.
// Give two endpoints of different operators: they must agree about everything. With one alone nothing is confirmed or
// refuted by the chain, because it can show a chain of its own, and what contracts answer has no proof.
// What is not on the chain is read from where you say:
// --published   the published calculation of eligibility (passes.json) or of rewards (reward-distribution-data.json), a file
//               or a URL with {epoch} for the number of the reward epoch; rewards are proven by their root on the chain
// --p-chain     the P-chain API of a node, for validators that were not listed
//
// A true statement may be another one than the alert made. So the script first says in words what it checks: compare that
// with the message that you received. --message does so with the body of a webhook, whose signature you check first
// (examples/verify): other figures than it has are refuted. Without it, the result says that it is of the file alone.
//
// Exit code 0: the chain confirms the claim. 1: the chain refutes it. 2: it could not be checked.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkEvidence, type EvidenceVerdict } from './evidence/check.ts'
import { readerOf } from './evidence/published.ts'

/** Characters of a line; a longer text could push its end to a line of its own. */
const LINE_MAX = 2000
const REGISTRY = '0xaD67FE66660Fb8dFE9d6b1b4240d8650e30F6019'

async function verify(): Promise<EvidenceVerdict> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      registry: { type: 'string', default: REGISTRY },
      published: { type: 'string' },
      'p-chain': { type: 'string' },
      message: { type: 'string' },
    },
  })
  const [file, ...urls] = positionals
  if (file === undefined || urls.length === 0) {
    return { code: 2, stated: [], said: 'not checked: give a file and an endpoint' }
  }
  const { registry, published, message } = values
  return checkEvidence(readFileSync(file, 'utf8'), urls, {
    registry,
    published: readerOf(published),
    pChain: values['p-chain'],
    message: message === undefined ? undefined : readFileSync(message, 'utf8'),
  })
}

try {
  const { code, stated, said } = await verify()
  for (const line of stated) print(line)
  print(said, code === 0 ? process.stdout : process.stderr)
  process.exitCode = code
} catch (error) {
  print(`not checked: ${(error as Error).message}`, process.stderr)
  process.exitCode = 2
}

/**
 * Prints one line, whatever texts of the file or of an endpoint are in it: no character of it controls a terminal, adds a
 * line or changes the direction of reading. It is the only place that prints.
 */
function print(line: string, output: NodeJS.WriteStream = process.stdout): void {
  output.write(`${line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').slice(0, LINE_MAX)}\n`)
}
