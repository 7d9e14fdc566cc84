import { setTimeout as wait } from 'node:timers/promises'
import { formatEther } from 'viem/utils'
import type { Person } from '../devnet/people.ts'
import type { WorldParts } from '../world.ts'
import {
  CHAT,
  type Happening,
  type HappeningGroup,
  INBOX,
  RECEIVER,
  secondsSince,
} from './define.ts'

const AMOUNT_FLR = 500
const AMOUNT_WEI = BigInt(AMOUNT_FLR) * 10n ** 18n
const EVENT = 'wallet-balance.moved'
/** How long alerts of a move are waited for. */
const PATIENCE_MS = 20_000

/** Moves between Alice and Bob. */
export function walletHappenings(world: WorldParts): HappeningGroup {
  const { alice, bob } = world.devnet.people
  const follows = (what: string) =>
    `${what} Whoever watches a balance by ${AMOUNT_FLR} FLR or less is told within a few seconds.`
  return {
    title: 'Wallet',
    about: 'Alice’s wallet is the one to watch.',
    happenings: [
      move(world, {
        id: 'flr-out',
        label: `Move ${AMOUNT_FLR} FLR out`,
        follows: follows('Alice sends it to Bob.'),
        from: alice,
        to: bob,
      }),
      move(world, {
        id: 'flr-in',
        label: `Move ${AMOUNT_FLR} FLR in`,
        follows: follows('Bob sends it to Alice.'),
        from: bob,
        to: alice,
      }),
    ],
  }
}

interface Move extends Pick<Happening, 'id' | 'label' | 'follows'> {
  readonly from: Person
  readonly to: Person
}

function move(world: WorldParts, { from, to, ...shown }: Move): Happening {
  return {
    ...shown,
    look: [CHAT, INBOX, RECEIVER],
    run: async (note, signal) => {
      const { client, transfer } = world.devnet
      const { address } = from.account
      const has = await client.getBalance({ address })
      if (has <= AMOUNT_WEI) {
        throw new Error(`${from.name} has only ${Number(formatEther(has)).toFixed(2)} FLR`)
      }
      const start = performance.now()
      const alerts = noteAlerts(world, (where) =>
        note(`alert ${where} after ${secondsSince(start)}`),
      )
      try {
        await transfer(address, to.account.address, AMOUNT_WEI)
        await wait(PATIENCE_MS, undefined, { signal }).catch(() => undefined)
      } finally {
        alerts.end()
      }
      if (alerts.count() === 0) note('no alert: nobody watches this balance, or something is down')
    },
  }
}

/** Says once for each chat, mailbox and hook that an alert about a balance has come in. */
function noteAlerts(
  { telegram, inbox, receiver }: WorldParts,
  note: (where: string) => void,
): { count(): number; end(): void } {
  const seen = new Set<string>()
  const say = (where: string) => {
    if (seen.has(where)) return
    seen.add(where)
    note(where)
  }
  const mailsBefore = inbox.mails.length
  const deliveriesBefore = receiver.deliveries.length
  const ends = [
    telegram.onChange((change) => {
      if (change.kind !== 'message') return
      const { chatId, from, text, editedAt } = change.message
      if (from !== telegram.bot.id || editedAt !== undefined || !text.includes('FLR')) return
      const chat = telegram.chat(chatId)
      say(chat.type === 'private' ? `in ${chat.person.firstName}’s chat` : `in “${chat.title}”`)
    }),
    inbox.subscribe(() => {
      for (const mail of inbox.mails.slice(mailsBefore)) {
        if (mail.subject.includes('FLR')) say(`in the mailbox of ${mail.to}`)
      }
    }),
    receiver.subscribe(() => {
      for (const { headers, hook } of receiver.deliveries.slice(deliveriesBefore)) {
        if (headers['x-watchdog-event'] === EVENT) say(`at the hook “${hook}”`)
      }
    }),
  ]
  return {
    count: () => seen.size,
    end: () => {
      for (const end of ends) end()
    },
  }
}
