import { setTimeout as wait } from 'node:timers/promises'
import { formatUnits } from 'viem/utils'
import type { ControlPanel } from '../control-panel.ts'
import type { WorldParts } from '../world/parts.ts'
import type { RequestedTopup } from '../world/topups.ts'
import {
  INDEX,
  type ResultPage,
  type Scenario,
  type ScenarioGroup,
  secondsSince,
} from './define.ts'

const CREDITS = 10_000
/** Longest wait for the credits of a payment. */
const PATIENCE_MS = 20_000
const LOOK_MS = 100
const DATA = '/ftso-analytics/feeds'
const PAY_PAGE: ResultPage = { label: 'Pay page, on the index', href: '/#pages-title' }

/** Scenarios of buying and spending credits. */
export function moneyScenarios(world: WorldParts, panel: ControlPanel): ScenarioGroup {
  return {
    title: 'Money',
    about:
      'Paid from the wallet that asked, or else from Alice’s; XRP on a local XRP Ledger. A quote is good for 10 minutes.',
    scenarios: [
      ask(world, panel, 'WFLR'),
      ask(world, panel, 'XRP'),
      pay(world, {
        id: 'pay-newest',
        label: 'Pay the newest top-up',
        expected: 'In its asset, in full. Credited after two blocks, or at once on the XRP Ledger.',
        part: (units) => units,
      }),
      pay(world, {
        id: 'pay-half',
        label: 'Pay half of it',
        expected: 'What was paid is credited, here half. Press twice to pay it all.',
        part: (units) => units / 2n,
      }),
      pay(world, {
        id: 'pay-xrp',
        label: 'Deposit XRP',
        expected: 'With the tag of the newest top-up in XRP, in full.',
        part: (units) => units,
        asset: 'XRP',
      }),
      {
        id: 'call-once',
        label: '1 metered call',
        expected: 'Alice asks for data. 50 calls a day are free, each further one costs 1 credit.',
        resultPages: [INDEX],
        run: async (note) => note(callText(await panel.callForData(DATA))),
      },
      {
        id: 'call-free',
        label: 'Use up the free calls',
        expected: 'Alice asks for data until no call is free any more today.',
        resultPages: [INDEX],
        run: async (note, signal) => {
          let call = await panel.callForData(DATA)
          while (call.freeLeft > 0 && !signal.aborted) call = await panel.callForData(DATA)
          note(callText(call))
        },
      },
    ],
  }
}

function ask(world: WorldParts, panel: ControlPanel, asset: 'WFLR' | 'XRP'): Scenario {
  return {
    id: `ask-${asset.toLowerCase()}`,
    label: `Top-up in ${asset}`,
    expected: `Alice asks for ${count(CREDITS)} credits for ${asset} over REST.`,
    resultPages: [PAY_PAGE],
    run: async (note) => {
      await panel.createTopUp(asset, CREDITS)
      const topup = await world.topups.newest()
      if (topup === undefined) throw new Error('no top-up was made')
      note(`${await amountOf(world, topup, topup.amountUnits)} to pay`)
    },
  }
}

interface Pay extends Pick<Scenario, 'id' | 'label' | 'expected'> {
  /** Part of the amount to pay. */
  part(units: bigint): bigint
  readonly asset?: 'XRP'
}

function pay(world: WorldParts, { part, asset, ...shown }: Pay): Scenario {
  return {
    ...shown,
    resultPages: [PAY_PAGE],
    run: async (note, signal) => {
      const { topups } = world
      const topup = await topups.newest(asset)
      if (topup === undefined) {
        throw new Error(`nobody has asked for a top-up${asset ? ` in ${asset}` : ''} yet`)
      }
      const units = part(topup.amountUnits)
      const { creditedCredits: before } = await topups.state(topup)
      const start = performance.now()
      await topups.pay(topup, units)
      note(`${await amountOf(world, topup, units)} paid`)
      while (performance.now() - start < PATIENCE_MS && !signal.aborted) {
        const { creditedCredits } = await topups.state(topup)
        if (creditedCredits > before) {
          note(`${count(creditedCredits - before)} credits after ${secondsSince(start)}`)
          return
        }
        await wait(LOOK_MS, undefined, { signal }).catch(() => undefined)
      }
      note('not credited: something is down')
    },
  }
}

async function amountOf(
  { topups }: WorldParts,
  topup: RequestedTopup,
  units: bigint,
): Promise<string> {
  const { decimals, asset } = await topups.state(topup)
  return `${formatUnits(units, decimals)} ${asset}`
}

function callText(call: { charged: number; balance: number; freeLeft: number }): string {
  return `${call.charged === 1 ? '1 credit' : `${call.charged} credits`} charged · ${call.freeLeft} free calls left · balance ${count(call.balance)}`
}

function count(number: number): string {
  return number.toLocaleString('en')
}
