import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDevnet } from '#sandbox/devnet.ts'
import { readCommand } from '../../ops/router/arguments.ts'
import {
  allowToken,
  deployRouter,
  openRouter,
  pauseRouter,
  readStatus,
} from '../../ops/router/router.ts'

const KEY = `0x${'1f'.repeat(32)}` as const
const OWNER = privateKeyToAccount(KEY).address
const TREASURY = '0x00000000000000000000000000000000000f1a02'
/** A chain that makes blocks by itself, as one does on which a transaction is waited for. */
const start = () => startDevnet({ contracts: true, blockTimeSeconds: 1 })

let devnet: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  devnet = await start()
  await devnet.client.setBalance({ address: OWNER, value: 10n ** 18n })
})
afterAll(() => devnet.close())

/** Runs a command as it is typed. */
async function router(
  words: readonly string[],
  over: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = readCommand(words)
  const opened = await openRouter({
    ...{ CHAIN_ID: '14', FLARE_RPC_URLS: devnet.rpcUrl, ROUTER_OWNER_KEY: KEY },
    ...{ SERVICE_TOKEN_ADDRESS: devnet.contracts.serviceToken, ...over },
  })
  const run = { status: readStatus, deploy: deployRouter, allow: allowToken, pause: pauseRouter }[
    command.name
  ]
  return (await run(opened, command as never)).join('\n')
}

test('a router is deployed, set up, paused and reported by command, and nothing is sent without --yes', async () => {
  const token = devnet.contracts.serviceToken
  const count = () => devnet.client.getTransactionCount({ address: OWNER })
  expect(await router(['deploy', '--treasury', TREASURY])).toContain(
    'would deploy a router on Flare',
  )
  expect(await count()).toBe(0)
  const deployed = await router(['deploy', '--treasury', TREASURY, '--yes'])
  const [, address = ''] = /PAYMENT_ROUTER=(0x\w{40})/.exec(deployed) ?? []
  const at = { PAYMENT_ROUTER: address }
  expect(await router(['status'], at)).toContain('not accepted; npm run router -- allow')
  expect(await router(['allow', token], at)).toContain('would accept payments')
  expect(await count()).toBe(1)
  await router(['allow', token, '--yes'], at)
  await router(['pause', 'on', '--yes'], at)
  const status = await router(['status'], at)
  for (const part of [
    'version 2',
    `owner ${OWNER}`,
    'treasury 0x00000000000000000000000000000000000f1a02',
    ': accepted',
    'paused: nobody can pay',
  ]) {
    expect(status).toContain(part)
  }
  await router(['pause', 'off', '--yes'], at)
  await router(['allow', token, 'off', '--yes'], at)
  expect(await router(['status'], at)).toMatch(/takes payments\n.*not accepted/)
})

test.each([
  [['deploy'], {}, 'deploy needs --treasury'],
  [['deploy', '--treasury', '0x12'], {}, '--treasury must be an address'],
  [['deploy', '--treasury', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDB'], {}, 'wrong checksum'],
  [['pause', 'maybe'], {}, 'neither on nor off'],
  [['fly'], {}, 'there is no command “fly”'],
  [['status'], {}, 'PAYMENT_ROUTER is missing'],
  [['status'], { PAYMENT_ROUTER: TREASURY }, 'there is no router at'],
  [['status'], { CHAIN_ID: '19' }, 'serves chain 14, not 19'],
  [['status'], { FLARE_RPC_URLS: 'http://127.0.0.1:1' }, 'does not answer'],
  [
    ['pause', 'on'],
    { ROUTER_OWNER_KEY: '', PAYMENT_ROUTER: TREASURY },
    'ROUTER_OWNER_KEY is missing',
  ],
  [['pause', 'on'], { ROUTER_OWNER_KEY: 'abc' }, 'is no private key'],
])('%j is refused in words', async (words, over, refusal) => {
  const typed = async () => await router(words, over)
  await expect(typed()).rejects.toThrow(refusal)
})

test('who is not the owner, and what is no token, is refused before anything is sent', async () => {
  const at = { PAYMENT_ROUTER: devnet.contracts.router }
  await expect(router(['pause', 'on', '--yes'], at)).rejects.toThrow('is not the key of its owner')
  expect(await devnet.client.getTransactionCount({ address: OWNER })).toBeGreaterThan(0)
})
