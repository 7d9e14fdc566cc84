// Checks the evidence of a data provider's alert against any endpoint. Node.js 24, no packages:
//   node verify-evidence.ts evidence.json https://… [https://…] [--registry 0x…] [--published passes.json]
//     [--p-chain https://…/ext/bc/P] [--message webhook.json]
//
// The file is the JSON of the alert's page of evidence, or of GET /alerts/{id}/evidence. Nothing in it is trusted:
// contracts, addresses, and weights are read from the chain, through Flare's contract registry, which has the
// same address on every network. Transactions, their senders and receipts are checked against the hash of their block.
// With several endpoints, they must agree about every block. What is not on the chain is read from where you say:
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
  for (const line of stated) process.stdout.write(`${line}\n`)
  const output = code === 0 ? process.stdout : process.stderr
  output.write(`${said}\n`)
  process.exitCode = code
} catch (error) {
  process.stderr.write(`not checked: ${(error as Error).message}\n`)
  process.exitCode = 2
}
