import { setTimeout as wait } from 'node:timers/promises'
import { tooManyMessages } from '../telegram/faults.ts'
import type { ChatChange } from '../telegram/model.ts'
import type { WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, INDEX, type Scenario, type ScenarioGroup, secondsSince } from './define.ts'

const RPC_DOWN_MS = 120_000
const RETRY_AFTER_SECONDS = 10
/** How long to wait until the bot sends a refused message again. */
const RESEND_MAX_MS = 60_000

/** Scenarios in which an external service fails. No message may be lost. */
export function faultScenarios(world: WorldParts): ScenarioGroup {
  const { rpc, telegram, inbox } = world
  return {
    title: 'Faults',
    about:
      'Something outside the service fails. No message is lost: it arrives when everything works again.',
    scenarios: [
      fault({
        id: 'rpc-down',
        label: 'RPC down 2 min',
        endLabel: 'RPC back now',
        state: 'The RPC endpoint is down.',
        expected:
          'The service cannot read the chain. Move FLR meanwhile: the alert comes when the RPC is back.',
        resultPages: [INDEX, CHAT],
        begin: () => rpc.down(),
        end: () => rpc.up(),
        lastsMs: RPC_DOWN_MS,
      }),
      tooManyRequests(world),
      fault({
        id: 'telegram-down',
        label: 'Telegram down',
        endLabel: 'Telegram up again',
        state: 'Telegram is down.',
        expected:
          'No message arrives in chats and buttons do not respond; mail and webhooks still work.',
        resultPages: [CHAT, INBOX],
        begin: () => telegram.down(),
        end: () => telegram.up(),
      }),
      fault({
        id: 'mail-down',
        label: 'Mail down',
        endLabel: 'Mail up again',
        state: 'The mail server is down.',
        expected:
          'Mails wait and are tried again after 5 s, 5 min, 30 min and so on; press “+1 h” to skip the wait.',
        resultPages: [INBOX, CHAT],
        begin: () => inbox.setMode('down'),
        end: () => (inbox.mode === 'down' ? inbox.setMode('ok') : Promise.resolve()),
        // The inbox page can switch the mail server on, too.
        onChange: (check) => inbox.subscribe(check),
        isOver: () => inbox.mode !== 'down',
      }),
    ],
  }
}

interface Fault extends Pick<Scenario, 'id' | 'label' | 'expected' | 'resultPages'> {
  readonly endLabel: string
  readonly state: string
  begin(): Promise<void>
  end(): Promise<void>
  /** Ends automatically after this time. */
  readonly lastsMs?: number
  /** Calls `check` after changes that may end the fault. The returned function ends that. */
  onChange?(check: () => void): () => void
  isOver?(): boolean
}

/** A scenario of a fault that lasts until it is ended. */
function fault({ endLabel, state, lastsMs, ...faultParts }: Fault): Scenario {
  const { id, label, expected, resultPages } = faultParts
  let ending: AbortController | undefined
  return {
    ...{ id, label, expected, resultPages },
    ongoingState: () => {
      const current = ending
      return current && { state, endLabel, end: () => current.abort() }
    },
    run: async (note, signal) => {
      if (ending !== undefined) return
      const ended = new AbortController()
      ending = ended
      const start = performance.now()
      const unsubscribe = faultParts.onChange?.(() => {
        if (faultParts.isOver?.()) ended.abort()
      })
      try {
        await faultParts.begin()
        note(lastsMs === undefined ? 'until you end it' : `for ${lastsMs / 60_000} min`)
        await untilAborted(AbortSignal.any([ended.signal, signal]), lastsMs)
        // When the whole sandbox stops, the fault need not be ended.
        if (!signal.aborted) await faultParts.end()
      } finally {
        unsubscribe?.()
        ending = undefined
      }
      note(`ended after ${secondsSince(start)}`)
    },
  }
}

/** A scenario that refuses the next message, and reports whether the bot sends it again. */
function tooManyRequests({ telegram }: WorldParts): Scenario {
  let cancelWait: AbortController | undefined
  return {
    id: 'telegram-429',
    label: 'Telegram 429',
    expected: `The bot’s next message is refused with “retry after ${RETRY_AFTER_SECONDS}”, and sent again after that time.`,
    resultPages: [CHAT],
    ongoingState: () => {
      const current = cancelWait
      return (
        current && {
          state: 'The next message will be refused.',
          endLabel: 'Cancel',
          end: () => current.abort(),
        }
      )
    },
    run: async (note, signal) => {
      if (cancelWait !== undefined) return
      const stop = new AbortController()
      cancelWait = stop
      telegram.failNext('sendMessage', tooManyMessages(RETRY_AFTER_SECONDS))
      const refused = await nextCall(
        telegram,
        (call) => call.refused?.code === 429,
        AbortSignal.any([stop.signal, signal]),
      )
      cancelWait = undefined
      if (refused === undefined) {
        telegram.clearFaults()
        note('cancelled')
        return
      }
      const start = performance.now()
      note('a message was refused')
      const sent = await nextCall(
        telegram,
        (call) => call.refused === undefined && call.payload.chat_id === refused.payload.chat_id,
        AbortSignal.any([signal, AbortSignal.timeout(RESEND_MAX_MS)]),
      )
      note(
        sent
          ? `sent again after ${secondsSince(start)}`
          : `not sent again within ${RESEND_MAX_MS / 1000} s`,
      )
    },
  }
}

type CallMade = Extract<ChatChange, { kind: 'call' }>['call']

/** Waits for the next matching `sendMessage`; returns undefined if the signal aborts first. */
async function nextCall(
  telegram: WorldParts['telegram'],
  fits: (call: CallMade) => boolean,
  signal: AbortSignal,
): Promise<CallMade | undefined> {
  const { promise, resolve } = Promise.withResolvers<CallMade | undefined>()
  const giveUp = () => resolve(undefined)
  signal.addEventListener('abort', giveUp, { once: true })
  const end = telegram.onChange((change) => {
    if (change.kind !== 'call' || change.call.method !== 'sendMessage') return
    if (fits(change.call)) resolve(change.call)
  })
  try {
    return await promise
  } finally {
    end()
    signal.removeEventListener('abort', giveUp)
  }
}

/** Waits until the signal aborts or the time is over. */
async function untilAborted(signal: AbortSignal, ms = 2 ** 31 - 1): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
