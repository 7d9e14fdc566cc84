import { afterAll, beforeAll, expect, test } from 'vitest'
import { type WatchWorld, watchWorld } from './world.ts'

/** Backtests of balances on a chain whose endpoint keeps the states of its newest thousand blocks only. */

const FLR = 10n ** 18n
const TOKEN_UNITS = 10n ** 18n

let world: WatchWorld

beforeAll(async () => {
  world = await watchWorld()
})
afterAll(() => world.close())

async function backtest(asset: string) {
  const target = { address: world.alice.caller.wallet, asset }
  const body = { type: 'wallet-balance', target, settings: { threshold: '1' } }
  const { body: found } = await world.alice.request('POST', '/watches/backtest', body)
  const gaps = found.gaps.map(({ code }: { code: string }) => code)
  return { ...found, gaps }
}

test('the history is the stored states, and the result says what is missing', async () => {
  const { devnet, alice } = world
  const { wallet } = alice.caller
  await devnet.mine(1500, 2)
  await devnet.setBalance(wallet, 7n * FLR)
  await devnet.contracts.mint(devnet.contracts.wflr, wallet, 3n * TOKEN_UNITS)
  await world.see()
  const tip = await devnet.client.getBlock()
  for (const [asset, event] of [
    ['FLR', 'warning'],
    [devnet.contracts.wflr, 'info'],
  ] as const) {
    const found = await backtest(asset)
    expect(found.gaps, asset).toEqual(['starts_later', 'sampled_balances', 'no_archive'])
    expect(found.observations, asset).toBe(15)
    expect(found.alerts, asset).toMatchObject([{ event: 'wallet-balance.moved', severity: event }])
    const seconds = Number(tip.timestamp) - Date.parse(found.from) / 1000
    expect(seconds, asset).toBeGreaterThan(1500)
    expect(seconds, asset).toBeLessThan(2100)
  }
})
