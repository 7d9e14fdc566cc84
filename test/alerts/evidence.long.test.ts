import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import { signIn } from '../support/people.ts'
import type { RoundWorld } from '../watches/rounds.ts'
import { confirmedForms, type Evidence } from './evidence-changes.ts'
import { changedEndpoint, runScript, twice, verify } from './evidence-script.ts'
import { failingProviders } from './failing-providers.ts'

/** The evidence of every alert about voting rounds, checked on the chain by the script of examples/. */

const CASES: readonly (readonly [string, Behaviour])[] = [
  ['Mute', 'no-commit'],
  ['Tardy', 'late-commit'],
  ['Short', 'wrong-length'],
  ['Shy', 'no-reveal'],
  ['Hasty', 'early-reveal'],
  ['Garbled', 'malformed-reveal'],
  ['Liar', 'reveal-mismatch'],
  ['Unsigned', 'no-signature'],
  ['Rash', 'early-signature'],
  ['Slow', 'grace-signature'],
  ['Forger', 'wrong-key'],
  ['Rebel', 'other-result'],
  ['Miscount', 'wrong-bit-vote-length'],
  ['Partial', 'bit-vote-against-consensus'],
  ['Fickle', 'no-fdc-signature'],
  ['Misplaced', 'fdc-in-submit1'],
  ['Clumsy', 'failing-transactions'],
  ['Poor', 'low-balance'],
  ['Still', 'no-fast-updates'],
  ['Gone', 'silent'],
]

interface RaisedAlert {
  readonly id: number
  readonly event: string
}

let world: RoundWorld
let rpc: Rpc
let raised: readonly RaisedAlert[] = []

beforeAll(async () => {
  world = await failingProviders(CASES)
  raised = (await world.notified()) as unknown as readonly RaisedAlert[]
  rpc = createRpc(twice(world.devnet.rpcUrl))
}, 180_000)
afterAll(() => world.close())

const isAlert = ({ event }: RaisedAlert) => !event.endsWith('.recovered')

/** The parts of evidence that are forged. */
interface Forgery extends Evidence {
  event: string
  severity: string
  rule: string
  claim: Record<string, unknown>
  data: Record<string, unknown>
  blocks: { first: Record<string, unknown>; last: Record<string, unknown> }
  transactions: Record<string, unknown>[]
}

/** Evidence read so far, by alert: requests are limited. */
const known = new Map<number, Forgery>()

async function evidenceOf({ id }: Pick<RaisedAlert, 'id'>): Promise<Forgery> {
  const before = known.get(id)
  if (before !== undefined) return before
  const { status, body } = await world.alice.request('GET', `/alerts/${id}/evidence`)
  expect(status).toBe(200)
  known.set(id, body)
  return body
}

function check(evidence: unknown, endpoints: readonly string[] | Rpc = rpc) {
  return verify(evidence, endpoints, world.devnet.contracts.registry)
}

/** An alert of an event, by any provider or by the one named. */
async function alertOf(event: string, name?: string): Promise<RaisedAlert> {
  const own =
    name === undefined ? raised : ((await world.alerts(name)) as unknown as readonly RaisedAlert[])
  const found = own.find((alert) => alert.event === event)
  if (found === undefined) throw new Error(`${event} was not raised`)
  return found
}

test('the chain confirms every alert', async () => {
  const alerts = raised.filter(isAlert)
  expect(alerts.length).toBeGreaterThanOrEqual(CASES.length)
  const found: unknown[] = []
  for (const alert of alerts) {
    const { code, said } = await check(await evidenceOf(alert))
    if (code !== 0) found.push([alert.event, code, said])
  }
  expect(found).toEqual([])
}, 300_000)

test('no text, number or list is confirmed in another case, notation, type or order', async () => {
  const found: unknown[] = []
  const seen = new Set<string>()
  for (const alert of raised.filter(isAlert)) {
    if (seen.has(alert.event)) continue
    seen.add(alert.event)
    const forms = await confirmedForms(await evidenceOf(alert), (other) => check(other))
    if (forms.length > 0) found.push([alert.event, forms])
  }
  expect(found).toEqual([])
}, 300_000)

test('transactions that one endpoint does not have are read from another', async () => {
  const { id } = await alertOf('fsp.ftso-commit', 'Tardy')
  world.primary.rewrite('eth_getTransactionByHash', () => null)
  const { body } = await world.alice.request('GET', `/alerts/${id}/evidence`)
  world.primary.rewrite('eth_getTransactionByHash', (result) => result)
  expect(body.transactions.length).toBeGreaterThan(0)
  expect(await check(body)).toMatchObject({ code: 0 })
}, 60_000)

test('the exit code and the output of the script tell its result', async () => {
  const evidence = await evidenceOf(await alertOf('fsp.ftso-commit', 'Mute'))
  const other = structuredClone(evidence)
  other.blocks.last['hash'] = `0x${'ab'.repeat(32)}`
  const { registry } = world.devnet.contracts
  const args = [...twice(world.devnet.rpcUrl), '--registry', registry]
  const run = (json: string, scriptArgs = args) => runScript(json, scriptArgs)
  const confirmed = await run(JSON.stringify(evidence))
  const stated = expect.stringMatching(/^The file states.+\n( {2}.+\n){5}$/)
  const out = expect.stringMatching(/^The file states.+\n( {2}.+\n){5}confirmed: .+\n$/)
  expect(confirmed).toEqual({ code: 0, out, err: '' })
  const refuted = await run(JSON.stringify(other))
  expect(refuted).toEqual({ code: 1, out: stated, err: expect.stringMatching(/^refuted: .+\n$/) })
  const unread = { code: 2, out: '', err: expect.stringMatching(/^not checked: .+\n$/) }
  expect(await run('{"half":')).toEqual(unread)
  expect(await run(JSON.stringify(evidence), [])).toEqual(unread)
  expect(await run(JSON.stringify(evidence), ['--unknown'])).toEqual(unread)
}, 60_000)

test('a true statement that is not that of the message is refuted with the message, and said in words without', async () => {
  const alert = await alertOf('fsp.balance-low')
  const evidence = await evidenceOf(alert)
  const { id: alertId, ...sent } = alert
  const message = { ...sent, alertId }
  const { rpcUrl, contracts } = world.devnet
  const checkWith = (evidence: unknown, sent?: unknown) =>
    verify(evidence, rpcUrl, contracts.registry, { message: sent })
  expect(await checkWith(evidence, message)).toMatchObject({ code: 0 })
  const weaker = structuredClone(evidence)
  weaker.claim['limitWei'] = '900000000000000000000'
  weaker.data['limitWei'] = weaker.claim['limitWei']
  const alone = await checkWith(weaker)
  expect(alone.code).toBe(0)
  expect(alone.stated.join('\n')).toMatch(/fsp\.balance-low.*\n(.*\n)+.*alert below 900$/)
  expect(await checkWith(weaker, message)).toMatchObject({
    code: 1,
    said: expect.stringContaining('the message has'),
  })
}, 60_000)

/** What the script says about evidence with a change. */
async function forged(alert: RaisedAlert, change: (evidence: Forgery) => void) {
  const evidence: Forgery = structuredClone(await evidenceOf(alert))
  change(evidence)
  return (await check(evidence)).code
}

/** Changes a figure in the claim and in the alert alike, so that they agree. */
function bothOf(change: (part: Record<string, unknown>) => void) {
  return ({ claim, data }: Forgery) => {
    change(data)
    change((claim['values'] ?? claim) as Record<string, unknown>)
  }
}

test('the chain refutes evidence with changed calldata, blocks, transactions or figures', async () => {
  const late = await alertOf('fsp.ftso-commit', 'Tardy')
  const missing = await alertOf('fsp.ftso-commit', 'Mute')
  const healthy = world.simulation().provider('Anchor').accounts.identity.address
  const results = {
    calldata: await forged(late, ({ transactions: [tx] }) => {
      if (tx) tx['input'] = `${String(tx['input']).slice(0, -2)}00`
    }),
    index: await forged(late, ({ transactions: [tx] }) => {
      if (tx) tx['index'] = Number(tx['index']) + 1
    }),
    block: await forged(late, ({ transactions: [tx] }) => {
      if (tx) tx['block'] = Number(tx['block']) - 1
    }),
    removed: await forged(late, ({ transactions }) => {
      transactions.length = 0
    }),
    lastBlock: await forged(missing, ({ blocks: { last } }) => {
      last['hash'] = `0x${'ab'.repeat(32)}`
    }),
    firstBlock: await forged(missing, ({ blocks: { first } }) => {
      first['hash'] = `0x${'ab'.repeat(32)}`
    }),
    reason: await forged(
      late,
      bothOf((part) => {
        part['reason'] = 'early'
      }),
    ),
    provider: await forged(missing, ({ claim, data }) => {
      claim['provider'] = healthy
      data['provider'] = healthy
    }),
    streak: await forged(missing, ({ claim, data }) => {
      claim['streak'] = 9
      data['streak'] = 9
      claim['firstRound'] = Number(claim['firstRound']) - 9
      data['firstRoundId'] = claim['firstRound']
    }),
    required: await forged(missing, ({ claim, data }) => {
      claim['required'] = 8
      data['rounds'] = 8
    }),
    onlyClaim: await forged(missing, ({ claim }) => {
      claim['round'] = Number(claim['round']) - 1
    }),
    offence: await forged(
      await alertOf('fsp.reveal-offence'),
      bothOf((part) => {
        part['computed'] = `0x${'cd'.repeat(32)}`
      }),
    ),
    signer: await forged(
      await alertOf('fsp.signature-mismatch'),
      bothOf((part) => {
        part['recoveredSigner'] = healthy
      }),
    ),
    deadline: await forged(
      await alertOf('fsp.signature-grace'),
      bothOf((part) => {
        part['secondsLate'] = 1 + Number(part['secondsLate'])
      }),
    ),
    requests: await forged(
      await alertOf('fsp.fdc-bitvote-length'),
      bothOf((part) => {
        part['expectedLength'] = 9
      }),
    ),
    gas: await forged(
      await alertOf('fsp.tx-failed'),
      bothOf((part) => {
        part['gasUsed'] = 1 + Number(part['gasUsed'])
      }),
    ),
    balance: await forged(
      await alertOf('fsp.balance-low'),
      bothOf((part) => {
        part['balanceWei'] = '1'
      }),
    ),
    silence: await forged(
      await alertOf('fsp.fast-updates'),
      bothOf((part) => {
        part['blocksSinceUpdate'] = 100_000
      }),
    ),
    chance: await forged(await alertOf('fsp.fast-updates'), ({ claim, data }) => {
      claim['threshold'] = 1e-9
      data['threshold'] = 1e-9
    }),
  }
  expect(results).toEqual(Object.fromEntries(Object.keys(results).map((name) => [name, 1])))
}, 300_000)

test('no alert is confirmed if its event, severity or rule is changed', async () => {
  const silent = await alertOf('fsp.ftso-commit', 'Gone')
  const single = await alertOf('fsp.ftso-commit', 'Mute')
  const codes = {
    // Whether the provider sent nothing at all decides, and the chain says it.
    silence: await forged(single, (evidence) => {
      evidence.severity = 'critical'
      for (const part of [evidence.claim, evidence.data]) part['streak'] = 2
    }),
    mildness: await forged(silent, (evidence) => {
      evidence.severity = 'warning'
    }),
    event: await forged(single, (evidence) => {
      evidence.event = 'fsp.ftso-reveal'
    }),
    offence: await forged(await alertOf('fsp.reveal-offence'), (evidence) => {
      evidence.severity = 'warning'
    }),
    balance: await forged(await alertOf('fsp.balance-low'), (evidence) => {
      evidence.severity = evidence.severity === 'critical' ? 'warning' : 'critical'
    }),
    rule: await forged(single, (evidence) => {
      evidence.rule = evidence.rule.replace('32', '31')
    }),
  }
  expect(codes).toEqual({ silence: 1, mildness: 2, event: 1, offence: 1, balance: 1, rule: 2 })
}, 120_000)

test('the chain confirms no forged evidence', async () => {
  const missing = await alertOf('fsp.ftso-commit', 'Mute')
  const silence = await alertOf('fsp.fast-updates')
  const anchor = world.simulation().provider('Anchor').accounts.identity.address
  // Of a provider that fulfils all duties.
  const ofAnchor = (change: (claim: Record<string, unknown>) => void) =>
    forged(missing, (evidence) => {
      for (const part of [evidence.claim, evidence.data]) part['provider'] = anchor
      change(evidence.claim)
    })
  const results = {
    kind: await ofAnchor((claim) => {
      claim['kind'] = 'constructor'
    }),
    checks: await ofAnchor((claim) => {
      claim['checks'] = ['commit', 'constructor']
    }),
    betweenRounds: await ofAnchor((claim) => {
      claim['round'] = Number(claim['round']) - 0.5
    }),
    earlierEpoch: await forged(missing, ({ claim, data }) => {
      claim['rewardEpoch'] = Number(claim['rewardEpoch']) - 1
      data['rewardEpochId'] = claim['rewardEpoch']
    }),
    noBlocks: await forged(silence, ({ claim, data }) => {
      const none = { provider: anchor, lastUpdateBlock: null, blocksSinceUpdate: 0, threshold: 1 }
      Object.assign(claim, none, { probability: '1.0e+0' })
      Object.assign(data, none, { probabilityOfSilence: '1.0e+0' })
    }),
  }
  expect(results).toEqual({ kind: 2, checks: 2, betweenRounds: 2, earlierEpoch: 1, noBlocks: 1 })
}, 180_000)

/** What the script says of true evidence over an endpoint whose answers are changed. */
async function through(
  alert: RaisedAlert,
  change: Parameters<typeof changedEndpoint>[1],
  more: readonly string[] = [],
) {
  const endpoint = await changedEndpoint(world.devnet.rpcUrl, change)
  try {
    return await check(await evidenceOf(alert), [endpoint.url, ...more])
  } finally {
    await endpoint.close()
  }
}

interface RpcBlock {
  number: string
  hash: string
  timestamp: string
  transactionsRoot: string
  transactions: { from: string; hash: string }[]
}

test('the script reports an endpoint that returns false data or has pruned old blocks', async () => {
  const missing = await alertOf('fsp.ftso-commit', 'Mute')
  const ofBlocks =
    (change: (block: RpcBlock) => void): Parameters<typeof changedEndpoint>[1] =>
    (method, _params, answer) => {
      if (method === 'eth_getBlockByNumber' && answer.result) change(answer.result as RpcBlock)
    }
  const omitting = await through(
    missing,
    ofBlocks((block) => {
      block.transactions.pop()
    }),
  )
  expect(omitting).toMatchObject({
    code: 2,
    said: expect.stringContaining('leaves out or changes'),
  })
  const other = await through(
    missing,
    ofBlocks((block) => {
      block.timestamp = `0x${(Number(block.timestamp) + 1).toString(16)}`
    }),
    [world.devnet.rpcUrl],
  )
  expect(other.code).not.toBe(0)
  const contradicting = await through(
    missing,
    ofBlocks((block) => {
      for (const transaction of block.transactions) transaction.from = `0x${'11'.repeat(20)}`
    }),
    [world.devnet.rpcUrl],
  )
  expect(contradicting).toMatchObject({ code: 2, said: expect.stringContaining('contradict') })
  // A single endpoint says that a provider's transactions were reverted: its receipts have another root.
  const revert = (answer: { result?: unknown }) => {
    for (const receipt of [answer.result].flat())
      Object.assign(receipt as object, { status: '0x0' })
  }
  const reverting = await through(missing, (method, _params, answer) => {
    if (method === 'eth_getBlockReceipts' && answer.result) revert(answer)
  })
  expect(reverting).toMatchObject({ code: 2, said: expect.stringContaining('changes receipts') })
  // One that does not give all receipts of a block is believed only if another one agrees.
  const alone: Parameters<typeof changedEndpoint>[1] = (method, _params, answer) => {
    if (method === 'eth_getBlockReceipts') {
      delete answer.result
      answer.error = { code: -32601, message: 'method not found' }
    }
    if (method === 'eth_getTransactionReceipt' && answer.result) revert(answer)
  }
  const disputed = await through(missing, alone, [world.devnet.rpcUrl])
  expect(disputed).toMatchObject({ code: 2, said: expect.stringContaining('contradict') })
  const pruned = await through(missing, (method, _params, answer) => {
    if (method === 'eth_getBlockByNumber') answer.result = null
  })
  expect(pruned).toMatchObject({ code: 2, said: expect.stringContaining('pruned') })
  const stateless = await through(await alertOf('fsp.balance-low'), (method, params, answer) => {
    if (method !== 'eth_getBalance' || params[1] === 'latest') return
    delete answer.result
    answer.error = { code: -32000, message: 'missing trie node' }
  })
  expect(stateless).toMatchObject({ code: 2, said: expect.stringContaining('missing trie node') })
  const another = await through(missing, (method, _params, answer) => {
    if (method === 'eth_chainId') answer.result = '0x13'
  })
  expect(another).toMatchObject({ code: 2, said: expect.stringContaining('of chain 19') })
}, 180_000)

test('whoever may read the alert may read its evidence, and nobody else', async () => {
  const alert = await alertOf('fsp.ftso-commit', 'Tardy')
  const { app, server } = world
  const path = new URL(alertUrl(app, { alertId: alert.id, recipientId: null })).pathname
  const page = await server.inject(path)
  expect(page.payload).toContain(`${path}/evidence`)
  const evidence = await server.inject(`${path}/evidence`)
  expect(evidence.statusCode).toBe(200)
  // First in words, with links; what a program reads is folded.
  const [words = '', folded = ''] = evidence.payload.split('<details class="more"')
  expect(words).toContain('FTSO commit too late')
  const { transactions } = await evidenceOf(alert)
  expect(evidence.payload).toContain(
    `href="https://flare-explorer.flare.network/tx/${transactions[0]?.hash}"`,
  )
  expect(words).not.toContain('&quot;claim&quot;')
  expect(folded.length).toBeGreaterThan(0)
  expect(evidence.payload).toMatch(/data-copy="\{\n {2}&quot;version&quot;: 1/)
  const json = await server.inject(`${path}/evidence.json`)
  const { rule, ...own } = await evidenceOf(alert)
  expect(json.json()).toMatchObject(own)
  expect(rule).toBeTypeOf('string')
  // Nothing of the watch's owner is in it.
  const text = json.payload.toLowerCase()
  expect(text).not.toContain(world.alice.caller.wallet.toLowerCase())
  expect(text).not.toContain('"watchlabel"')
  expect((await server.inject(`${path.slice(0, -2)}xx/evidence`)).statusCode).toBe(404)
  expect((await server.inject(`${path.slice(0, -2)}xx/evidence.json`)).statusCode).toBe(404)
  const bob = await signIn(world, 'bob')
  expect((await bob.request('GET', `/alerts/${alert.id}/evidence`)).status).toBe(404)
  expect((await world.alice.request('GET', '/alerts/999999/evidence')).status).toBe(404)
})
