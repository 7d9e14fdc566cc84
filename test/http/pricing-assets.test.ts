import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PricingDocument } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { type PayWorld, payWorld } from '../support/pay-world.ts'
import { request } from '../support/people.ts'

/** The pricing document reads the ways to pay from the chain, and caches them. */

let world: PayWorld
beforeAll(async () => {
  world = await payWorld()
})
afterAll(() => world.close())

async function pricing(): Promise<PricingDocument> {
  return (await request<PricingDocument>(world, 'GET', '/pricing')).body
}

/** The document after its cache has expired. */
async function fresh(): Promise<PricingDocument> {
  await world.sync()
  world.clock.advance(15)
  return pricing()
}

test('shows every payment option with its price, router and caps', async () => {
  const { contracts, xrpl } = world
  const { assets, nativeFlr, nativeXrp } = await fresh()
  const open = { available: true, paused: false }
  const free = { capPerTopup: null, holdingsCap: null }
  const capped = { capPerTopup: '1000', holdingsCap: '5000' }
  expect(assets).toEqual([
    {
      symbol: 'WDG',
      address: contracts.serviceToken,
      decimals: 18,
      bonusBps: 1000,
      routerAllowlisted: true,
      amountPer1000Credits: '20000000000000000000',
      ...open,
      ...free,
    },
    {
      symbol: 'WFLR',
      address: contracts.wflr,
      decimals: 18,
      bonusBps: 0,
      routerAllowlisted: true,
      amountPer1000Credits: '50000000000000000000',
      ...open,
      ...free,
    },
    {
      symbol: 'FXRP',
      address: contracts.fxrp,
      decimals: 6,
      bonusBps: 0,
      routerAllowlisted: true,
      amountPer1000Credits: '400000',
      ...open,
      ...capped,
    },
  ])
  expect(nativeFlr).toMatchObject({
    payTo: contracts.payTo,
    amountPer1000Credits: '50000000000000000000',
    ...open,
    ...free,
  })
  expect(nativeXrp).toMatchObject({
    address: xrpl.address,
    amountPer1000Credits: '400000',
    ...open,
    ...capped,
  })
})

test('shows every metered resource with its description, price and payment options', async () => {
  const { resources } = await fresh()
  expect(resources.map(({ resource, priceCredits }) => [resource, priceCredits])).toEqual([
    ['rewards-intelligence-reports', 10],
    ['providers-rewards', 2],
    ['ftso-analytics', 1],
  ])
  for (const { resource, description, priceCredits, accepts } of resources) {
    expect(description.length).toBeGreaterThan(10)
    expect(accepts.map(({ extra }) => extra.assetSymbol)).toEqual(['WDG', 'WFLR', 'FXRP', 'FLR'])
    for (const offer of accepts) {
      expect(offer.resource).toBe(`${world.app.publicUrl}/api/x402/pricing#${resource}`)
      expect(offer.extra.priceCredits).toBe(priceCredits)
    }
  }
})

test('reads the chain once for many requests, and again after 15 seconds', async () => {
  await fresh()
  world.rpc.resetCounts()
  await Promise.all(Array.from({ length: 30 }, pricing))
  world.clock.advance(14)
  await pricing()
  expect(world.rpc.counts()).toEqual({})
  world.clock.advance(1)
  await Promise.all(Array.from({ length: 30 }, pricing))
  const calls = Object.values(world.rpc.counts()).reduce((sum, count) => sum + count, 0)
  expect(calls).toBeGreaterThan(0)
  expect(calls).toBeLessThanOrEqual(12)
})

test('rounds the amount up', async () => {
  await world.contracts.setFeed('XRP/USD', 3n, 0)
  const { nativeXrp } = await fresh()
  expect(nativeXrp.amountPer1000Credits).toBe('333334')
  await world.contracts.setFeed('XRP/USD', 250_000n, 5)
})

test('shows a paused router, and a token that the router does not accept', async () => {
  const { contracts } = world
  await contracts.setPaused(true)
  await contracts.setAllowed(contracts.wflr, false)
  const { assets, nativeFlr } = await fresh()
  expect(assets.map(({ paused }) => paused)).toEqual([true, true, true])
  expect(assets[1]).toMatchObject({
    available: false,
    routerAllowlisted: false,
    amountPer1000Credits: '0',
    address: contracts.wflr,
  })
  expect(nativeFlr).toMatchObject({ available: true, paused: false })
  await contracts.setPaused(false)
  await contracts.setAllowed(contracts.wflr, true)
})

test('shows an asset as paused if the service holds too much of it', async () => {
  const { contracts, xrpl } = world
  await contracts.mint(contracts.fxrp, contracts.treasury, 4_997_000_000n)
  const almost = await fresh()
  expect(almost.assets[2]).toMatchObject({ symbol: 'FXRP', available: true, paused: false })
  await contracts.mint(contracts.fxrp, contracts.treasury, 3_000_000n)
  xrpl.deposit({ drops: 4_990_000_000n })
  const { assets, nativeXrp } = await fresh()
  expect(assets[2]).toMatchObject({ symbol: 'FXRP', available: true, paused: true })
  expect(nativeXrp).toMatchObject({ available: true, paused: true })
  // FXRP cannot be used if holdings are at the cap, or closer to it than the smallest top-up.
  for (const { resources } of [almost, await fresh()]) {
    for (const { accepts } of resources) {
      expect(accepts.map(({ extra }) => extra.assetSymbol)).toEqual(['WDG', 'WFLR', 'FLR'])
    }
  }
})

test('offers nothing at a price older than ten minutes', async () => {
  await world.sync()
  const old = new Date(world.clock.now().getTime() - 601_000)
  await world.contracts.setFeed('FLR/USD', 200_000n, 7, old)
  const { assets, nativeFlr, nativeXrp } = await fresh()
  expect(assets[1]).toMatchObject({ available: false, amountPer1000Credits: '0' })
  expect(nativeFlr.available).toBe(false)
  expect([assets[0]?.available, nativeXrp.available]).toEqual([true, true])
  await world.contracts.setFeed('FLR/USD', 200_000n, 7)
})

test('responds while a chain is down, and shows what depends on it as unavailable', async () => {
  await world.xrpl.down()
  let document = await fresh()
  expect(document.nativeXrp.available).toBe(false)
  expect(document.nativeFlr.available).toBe(true)
  await world.xrpl.up()
  await world.rpc.down()
  world.clock.advance(15)
  document = await pricing()
  expect(document.assets.map(({ available }) => available)).toEqual([false, false, false])
  expect([document.nativeFlr.available, document.nativeXrp.available]).toEqual([false, false])
  await world.rpc.up()
  expect((await fresh()).nativeFlr.available).toBe(true)
})

test('refuses a token whose decimals differ from the price list', async () => {
  const { wflr, fxrp } = world.contracts
  const other = await payWorldWith({ WFLR_ADDRESS: fxrp, FXRP_ADDRESS: wflr })
  expect(other.errors).toContainEqual(
    expect.objectContaining({
      message:
        'payment token has other decimals than the price list, or is not a token; it is not accepted',
    }),
  )
  expect(other.available).toEqual([true, false, false])
})

/** The same chain with other settings. */
async function payWorldWith(over: Record<string, string>) {
  const errors: { message: string }[] = []
  const note = (_fields: unknown, message: string) => errors.push({ message })
  const none = () => undefined
  const log = { error: note, warn: none, info: none, debug: none }
  const service = await serviceOnly({ ...world.environment, ...over }, world.clock, log)
  const { body } = await request<PricingDocument>(service, 'GET', '/pricing')
  await service.close()
  return { errors, available: body.assets.map(({ available }) => available) }
}
