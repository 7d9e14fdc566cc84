import { formatEther } from 'viem/utils'
import type { DevPerson } from '../devnet/accounts.ts'
import type { WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, RECEIVER, type Scenario, type ScenarioGroup } from './define.ts'
import { runAndReportAlerts } from './report-alerts.ts'

const AMOUNT_FLR = 500
const AMOUNT_WEI = BigInt(AMOUNT_FLR) * 10n ** 18n
const EVENT = 'wallet-balance.moved'

/** Scenarios of transfers between Alice and Bob. */
export function walletScenarios(world: WorldParts): ScenarioGroup {
  const { alice, bob } = world.devnet.people
  const expectedText = (what: string) =>
    `${what} Whoever watches a balance by ${AMOUNT_FLR} FLR or less is notified within a few seconds.`
  return {
    title: 'Wallet',
    about: 'Alice’s wallet is the one to watch.',
    scenarios: [
      move(world, {
        id: 'flr-out',
        label: `Move ${AMOUNT_FLR} FLR out`,
        expected: expectedText('Alice sends it to Bob.'),
        from: alice,
        to: bob,
      }),
      move(world, {
        id: 'flr-in',
        label: `Move ${AMOUNT_FLR} FLR in`,
        expected: expectedText('Bob sends it to Alice.'),
        from: bob,
        to: alice,
      }),
    ],
  }
}

interface Move extends Pick<Scenario, 'id' | 'label' | 'expected'> {
  readonly from: DevPerson
  readonly to: DevPerson
}

function move(world: WorldParts, { from, to, ...shown }: Move): Scenario {
  return {
    ...shown,
    resultPages: [CHAT, INBOX, RECEIVER],
    waitsForResults: true,
    run: async (note, signal) => {
      const { client, transfer } = world.devnet
      const { address } = from.account
      const balanceWei = await client.getBalance({ address })
      if (balanceWei <= AMOUNT_WEI) {
        throw new Error(`${from.name} has only ${Number(formatEther(balanceWei)).toFixed(2)} FLR`)
      }
      await runAndReportAlerts(
        world,
        { words: ['FLR'], events: [EVENT] },
        { note, signal },
        async () => {
          await transfer(address, to.account.address, AMOUNT_WEI)
        },
      )
    },
  }
}
