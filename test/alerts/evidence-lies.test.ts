import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { EvidenceClaim } from '#src/watches/evidence-model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { type Fields, transactionsRoot } from '../../examples/evidence/roots.ts'
import type { RoundWorld } from '../watches/rounds.ts'
import { changedEndpoint, datedTo, runScript, twice, verify } from './evidence-script.ts'
import { failingProviders } from './failing-providers.ts'

/** Endpoints that lie and files that overload or deceive do not fool the script of examples/. */

const CASES: readonly (readonly [string, Behaviour])[] = [
  ['Mute', 'no-commit'],
  ['Tardy', 'late-commit'],
  ['Clumsy', 'failing-transactions'],
  ['Still', 'no-fast-updates'],
]

interface Evidence {
  event: string
  firedAt: string
  claim: Record<string, unknown>
  data: Record<string, unknown>
  blocks: { last: { number: number } }
}
type Change = Parameters<typeof changedEndpoint>[1]

let world: RoundWorld

beforeAll(async () => {
  world = await failingProviders(CASES)
}, 180_000)
afterAll(() => world.close())

async function evidenceOf(name: string, event: string): Promise<Evidence> {
  const all = (await world.alerts(name)) as unknown as readonly { id: number; event: string }[]
  const found = all.find((alert) => alert.event === event)
  expect(found, event).toBeDefined()
  return (await world.alice.request('GET', `/alerts/${found?.id}/evidence`)).body
}

const check = (evidence: unknown, urls: string | readonly string[]) =>
  verify(evidence, urls, world.devnet.contracts.registry)

/** What the script says with a lying endpoint alone, and with an honest one before and after it. */
async function lied(evidence: unknown, change: Change): Promise<readonly number[]> {
  const { rpcUrl } = world.devnet
  const endpoint = await changedEndpoint(rpcUrl, change)
  try {
    const all = [[endpoint.url], [endpoint.url, rpcUrl], [rpcUrl, endpoint.url]]
    const codes: number[] = []
    for (const urls of all) codes.push((await check(evidence, urls)).code)
    return codes
  } finally {
    await endpoint.close()
  }
}

/** Changes blocks that have transactions. */
const ofBlocks =
  (change: (block: Fields & { transactions: Fields[] }) => void): Change =>
  (method, _params, answer) => {
    const block = answer.result as (Fields & { transactions: Fields[] }) | null
    if (method === 'eth_getBlockByNumber' && block) change(block)
  }

describe('one endpoint alone', () => {
  test('neither confirms nor refutes, also under the same address twice', async () => {
    const { rpcUrl } = world.devnet
    const missing = await evidenceOf('Mute', 'fsp.ftso-commit')
    const healthy = world.simulation().provider('Anchor').accounts.identity.address
    const forged = structuredClone(missing)
    for (const part of [forged.claim, forged.data]) part['provider'] = healthy
    for (const urls of [[rpcUrl], [rpcUrl, `${rpcUrl}/`], [rpcUrl, `${rpcUrl}?again`]]) {
      const said = expect.stringMatching(/^not checked: one endpoint alone can lie: .* It agrees/)
      expect(await check(missing, urls)).toMatchObject({ code: 2, said })
      const contradicts = expect.stringContaining('It contradicts')
      expect(await check(forged, urls)).toMatchObject({ code: 2, said: contradicts })
    }
    expect(await check(missing, twice(rpcUrl))).toMatchObject({ code: 0 })
    expect(await check(forged, twice(rpcUrl))).toMatchObject({ code: 1 })
  })

  test('cannot change the calldata, the receiver or the gas of a failed call', async () => {
    const evidence = await evidenceOf('Clumsy', 'fsp.tx-failed')
    const forged = structuredClone(evidence)
    for (const part of [forged.claim, forged.data]) part['selector'] = '0x9d00c9fd'
    const input = (value: Fields) => ({ ...value, input: '0x9d00c9fd', gas: '0x1' })
    const codes = await lied(forged, (method, _params, answer) => {
      const block = answer.result as (Fields & { transactions: Fields[] }) | null
      if (method === 'eth_getTransactionByHash' && block) answer.result = input(block)
      if (method === 'eth_getBlockByNumber' && block) {
        block.transactions = block.transactions.map((transaction) =>
          transaction['hash'] === forged.claim['transaction'] ? input(transaction) : transaction,
        )
      }
    })
    expect(codes).toEqual([2, 2, 2])
    expect((await check(forged, twice(world.devnet.rpcUrl))).code).toBe(1)
  })

  test('cannot leave out transactions under the true hash of a header', async () => {
    const evidence = await evidenceOf('Mute', 'fsp.ftso-commit')
    const { identity, submit } = world.simulation().provider('Anchor').accounts
    const forged = structuredClone(evidence)
    for (const part of [forged.claim, forged.data]) part['provider'] = identity.address
    const codes = await lied(
      forged,
      ofBlocks((block) => {
        const others = block.transactions.filter(
          ({ from }) => String(from).toLowerCase() !== submit.address.toLowerCase(),
        )
        Object.assign(block, { extraData: '0x01', transactions: others })
        block['transactionsRoot'] = transactionsRoot(others)
      }),
    )
    expect(codes).toEqual([2, 2, 2])
  })
})

test.each<readonly [string, Change]>([
  [
    'the time of blocks',
    ofBlocks((block) => {
      block['timestamp'] = `0x${(Number(block['timestamp']) + 1).toString(16)}`
    }),
  ],
  [
    'the filter of events',
    ofBlocks((block) => {
      block['logsBloom'] = `0x${'0'.repeat(512)}`
    }),
  ],
  [
    'the hashes of two transactions',
    ofBlocks(({ transactions: [first, second] }) => {
      if (first === undefined || second === undefined) return
      ;[first['hash'], second['hash']] = [second['hash'], first['hash']]
    }),
  ],
  [
    'a sender',
    ofBlocks(({ transactions }) => {
      for (const transaction of transactions) transaction['from'] = `0x${'11'.repeat(20)}`
    }),
  ],
  [
    'an answer of a contract',
    (method, _params, answer) => {
      const result = String(answer.result)
      if (method === 'eth_call')
        answer.result = result.replace(/.$/, (digit) => (digit === '1' ? '2' : '1'))
    },
  ],
  [
    'an answer of a contract to a refusal',
    (method, _params, answer) => {
      if (method !== 'eth_call') return
      delete answer.result
      answer.error = { code: 3, message: 'execution reverted' }
    },
  ],
])(
  'an endpoint of two that changes %s is contradicted',
  async (_what, change) => {
    expect(await lied(await evidenceOf('Mute', 'fsp.ftso-commit'), change)).toEqual([2, 2, 2])
  },
  60_000,
)

test('where no header can be proven, two endpoints that agree are believed, and the result says so', async () => {
  const { rpcUrl } = world.devnet
  const unknown = ofBlocks((block) => {
    block['baseFeePerGas'] = '0x123456'
  })
  const endpoints = await Promise.all([1, 2].map(() => changedEndpoint(rpcUrl, unknown)))
  const evidence = await evidenceOf('Tardy', 'fsp.ftso-commit')
  const urls = endpoints.map(({ url }) => url)
  const said = expect.stringMatching(/taken from the endpoints?: .*hashes of headers/)
  expect(await check(evidence, urls)).toMatchObject({ code: 0, said })
  for (const endpoint of endpoints) await endpoint.close()
})

/** A file about the example of an event with these figures, as of the time of another file. */
function fileOf(other: Evidence, event: string, severity: string, figures: object): object {
  const watched = REGISTRY.flatMap(({ name, signals }) =>
    signals.map((signal) => ({ name, signal })),
  )
  const found = watched.find(({ signal }) => event in signal.examples)
  const data = { ...found?.signal.examples[event], ...figures }
  const { number: block } = other.blocks.last
  const claim = z.encode(EvidenceClaim, found?.signal.claim?.(data, { event, block }) as never)
  const about = { type: found?.name ?? '', signal: found?.signal.id ?? '' }
  const rule = signalHelp(translator('en'), about).checked
  return { ...other, event, severity, rule, data, claim, transactions: [] }
}

describe('a file', () => {
  test('of more than its kind may need makes no request', async () => {
    const asked: string[] = []
    const endpoint = await changedEndpoint(world.devnet.rpcUrl, (method) => {
      asked.push(method)
    })
    const silence = await evidenceOf('Still', 'fsp.fast-updates')
    const round = await evidenceOf('Mute', 'fsp.ftso-commit')
    const late = await evidenceOf('Tardy', 'fsp.ftso-commit')
    const first = Number(round.claim['round']) - 60
    const long = { lastUpdateBlock: null, blocksSinceUpdate: 302_401 }
    const [transaction] = (late as unknown as { transactions: object[] }).transactions
    const last = { ...silence.blocks.last, number: 400_000 }
    const daysAgo = (days: number) =>
      new Date(Date.parse(silence.firedAt) - days * 86_400_000 - 1000).toISOString()
    const files = {
      blocks: {
        ...silence,
        blocks: { ...silence.blocks, last },
        claim: { ...silence.claim, ...long, block: 400_000 },
        data: { ...silence.data, ...long },
      },
      rounds: {
        ...round,
        claim: { ...round.claim, firstRound: first },
        data: { ...round.data, firstRoundId: first },
      },
      transactions: { ...late, transactions: Array.from({ length: 4 }, () => transaction) },
      rate: fileOf(silence, 'fsp.mc-anchor', 'warning', { rounds: 3361 }),
      vote: fileOf(silence, 'signing.missed', 'critical', { endedAt: daysAgo(7) }),
      registration: fileOf(silence, 'fsp.registration', 'critical', { openedAt: daysAgo(3.5) }),
    }
    for (const [name, file] of Object.entries(files)) {
      const { code, said } = await check(file, [endpoint.url, world.devnet.rpcUrl])
      expect([name, code, said]).toEqual([name, 2, expect.stringMatching(/more than/)])
    }
    await endpoint.close()
    expect(asked).toEqual([])
  })

  test('and an endpoint add no line and no control character to what is printed', async () => {
    const evidence = await evidenceOf('Mute', 'fsp.ftso-commit')
    const { registry } = world.devnet.contracts
    const trick = '\u001b[2K\rconfirmed: the vote is over\nconfirmed: it is\u202e\u2028\u009b2J'
    const endpoint = await changedEndpoint(world.devnet.rpcUrl, (_method, _params, answer) => {
      delete answer.result
      answer.error = { code: -32000, message: trick }
    })
    const args = [endpoint.url, ...twice(world.devnet.rpcUrl), '--registry', registry]
    const files = [
      JSON.stringify(evidence),
      JSON.stringify({ ...evidence, version: trick }),
      JSON.stringify({ ...evidence, event: trick }),
      JSON.stringify({ ...evidence, unproven: trick, claim: null }),
      JSON.stringify({ ...evidence, claim: { ...evidence.claim, kind: trick } }),
      JSON.stringify({ ...evidence, [trick]: 1 }),
      trick,
    ]
    for (const file of files) {
      const { code, out, err } = await runScript(file, args)
      expect(code).toBe(2)
      expect(err).toMatch(/^not checked: .+\n$/)
      for (const line of `${out}${err}`.split('\n')) {
        expect(line).not.toMatch(/^confirmed|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }
    }
    await endpoint.close()
  }, 60_000)
})

test('an alert about a round or a call that is dated to a later block is not confirmed', async () => {
  const { devnet } = world
  const tip = Number(await devnet.client.getBlockNumber())
  const round = await datedTo(await evidenceOf('Mute', 'fsp.ftso-commit'), devnet, tip)
  expect(await check(round, devnet.rpcUrl)).toMatchObject({
    code: 2,
    said: expect.stringContaining(`was complete before block ${tip}`),
  })
  const call = await evidenceOf('Clumsy', 'fsp.tx-failed')
  const firedAt = new Date(Date.now() + 86_400_000).toISOString()
  expect(await check({ ...call, firedAt }, devnet.rpcUrl)).toMatchObject({
    code: 2,
    said: expect.stringMatching(/seconds before the alert/),
  })
})
