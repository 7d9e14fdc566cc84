import { setTimeout as wait } from 'node:timers/promises'
import { tooMany } from '../telegram/faults.ts'
import type { Change } from '../telegram/model.ts'
import type { WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, INDEX, type Scenario, type ScenarioGroup, secondsSince } from './define.ts'

const RPC_DOWN_MS = 120_000
const RETRY_AFTER_SECONDS = 10
/** Longest wait for a refused message. */
const RESEND_PATIENCE_MS = 60_000

/** Scenarios of failing outside services, which must lose nothing. */
export function faultScenarios(world: WorldParts): ScenarioGroup {
  const { rpc, telegram, inbox } = world
  return {
    title: 'Faults',
    about: 'Something outside the service fails. Nothing is lost; what is late comes later.',
    scenarios: [
      fault({
        id: 'rpc-down',
        label: 'RPC down 2 min',
        endLabel: 'RPC back now',
        state: 'The RPC endpoint is down.',
        follows:
          'The service cannot read the chain. Move FLR meanwhile: the alert comes when the RPC is back.',
        look: [INDEX, CHAT],
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
        follows: 'Nothing comes into chats and no button answers; mail and webhooks go on.',
        look: [CHAT, INBOX],
        begin: () => telegram.down(),
        end: () => telegram.up(),
      }),
      fault({
        id: 'mail-down',
        label: 'Mail down',
        endLabel: 'Mail up again',
        state: 'The mail server is down.',
        follows:
          'Mails wait and are tried again after 5 s, 5 min, 30 min and so on; “+1 h” saves the waiting.',
        look: [INBOX, CHAT],
        begin: () => inbox.setMode('down'),
        end: () => (inbox.mode === 'down' ? inbox.setMode('ok') : Promise.resolve()),
        // The inbox page can do the same.
        onChange: (look) => inbox.subscribe(look),
        isOver: () => inbox.mode !== 'down',
      }),
    ],
  }
}

interface Fault extends Pick<Scenario, 'id' | 'label' | 'follows' | 'look'> {
  readonly endLabel: string
  readonly state: string
  begin(): Promise<void>
  end(): Promise<void>
  /** Ends automatically after this time. */
  readonly lastsMs?: number
  /** Calls back when `isOver` should be checked, until the returned function is called. */
  onChange?(look: () => void): () => void
  isOver?(): boolean
}

/** A scenario of a fault that lasts until it is ended. */
function fault({ endLabel, state, lastsMs, ...given }: Fault): Scenario {
  const { id, label, follows, look } = given
  let ending: AbortController | undefined
  return {
    ...{ id, label, follows, look },
    lasting: () => {
      const current = ending
      return current && { state, endLabel, end: () => current.abort() }
    },
    run: async (note, signal) => {
      if (ending !== undefined) return
      const ended = new AbortController()
      ending = ended
      const start = performance.now()
      const stopLooking = given.onChange?.(() => {
        if (given.isOver?.()) ended.abort()
      })
      try {
        await given.begin()
        note(lastsMs === undefined ? 'until it is ended' : `for ${lastsMs / 60_000} min`)
        await untilAborted(AbortSignal.any([ended.signal, signal]), lastsMs)
        // The end of the world stops everything.
        if (!signal.aborted) await given.end()
      } finally {
        stopLooking?.()
        ending = undefined
      }
      note(`over after ${secondsSince(start)}`)
    },
  }
}

/** Refuses the next message, and checks whether it is sent later. */
function tooManyRequests({ telegram }: WorldParts): Scenario {
  let takingBack: AbortController | undefined
  return {
    id: 'telegram-429',
    label: 'Telegram 429',
    follows: `The bot’s next message is refused with “retry after ${RETRY_AFTER_SECONDS}”, and sent that much later.`,
    look: [CHAT],
    lasting: () => {
      const current = takingBack
      return (
        current && {
          state: 'The next message will be refused.',
          endLabel: 'Do not refuse it',
          end: () => current.abort(),
        }
      )
    },
    run: async (note, signal) => {
      if (takingBack !== undefined) return
      const stop = new AbortController()
      takingBack = stop
      telegram.failNext('sendMessage', tooMany(RETRY_AFTER_SECONDS))
      const refused = await nextCall(
        telegram,
        (call) => call.refused?.code === 429,
        AbortSignal.any([stop.signal, signal]),
      )
      takingBack = undefined
      if (refused === undefined) {
        telegram.clearFaults()
        note('taken back')
        return
      }
      const start = performance.now()
      note('a message was refused')
      const sent = await nextCall(
        telegram,
        (call) => call.refused === undefined && call.payload.chat_id === refused.payload.chat_id,
        AbortSignal.any([signal, AbortSignal.timeout(RESEND_PATIENCE_MS)]),
      )
      note(sent ? `sent after ${secondsSince(start)}` : 'not sent again')
    },
  }
}

type CallMade = Extract<Change, { kind: 'call' }>['call']

/** The next matching `sendMessage`; undefined when the signal was aborted before. */
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

/** Waits until the signal is aborted, or the timeout. */
async function untilAborted(signal: AbortSignal, ms = 2 ** 31 - 1): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
