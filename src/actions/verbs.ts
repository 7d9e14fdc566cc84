/**
 * Every verb of a button, with its arguments in order. A changed meaning gets a new verb; a changed list of
 * arguments raises the version in `codec.ts`.
 */

import { getAddress } from 'viem/utils'
import { z } from 'zod'
import { LOCALES } from '#src/kernel/locale.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

type Argument = z.ZodType<unknown, string>

/** A whole number in base 36, in canonical form. */
function base36(max: number) {
  return z.codec(z.string().regex(/^(0|[1-9a-z][0-9a-z]{0,6})$/), z.int().min(0).max(max), {
    decode: (text) => Number.parseInt(text, 36),
    encode: (number) => number.toString(36),
  })
}

/** Bytes in base64url, without padding. */
function bytes<Text extends string>(
  length: number,
  characters: number,
  write: (hex: string) => Text,
) {
  return z.codec(
    z.string().regex(new RegExp(`^[\\w-]{${characters}}$`)),
    z.custom<Text>((value) => typeof value === 'string' && value.length === 2 + 2 * length),
    {
      decode: (text, context) => {
        const read = Buffer.from(text, 'base64url')
        if (read.length === length && read.toString('base64url') === text) {
          return write(read.toString('hex'))
        }
        context.issues.push({ code: 'custom', input: text })
        return z.NEVER
      },
      encode: (hex) => Buffer.from(hex.slice(2), 'hex').toString('base64url'),
    },
  )
}

/** Accepts the argument or an empty text. */
function optional<Value>(schema: z.ZodType<Value, string>) {
  return z.codec(
    z.string(),
    z.custom<Value | undefined>(() => true),
    {
      decode: (text, context) => {
        if (text === '') return undefined
        const parsed = schema.safeParse(text)
        if (parsed.success) return parsed.data
        context.issues.push({ code: 'custom', input: text })
        return z.NEVER
      },
      encode: (value) => (value === undefined ? '' : z.encode(schema, value)),
    },
  )
}

/** Id of a row. */
const id = base36(2_147_483_647).refine((value) => value > 0)
/** A page of a list: two digits, from 1. */
const page = base36(36 ** 2 - 1).refine((value) => value > 0)
/** An index in the screen's choices, or a small count: three digits. */
const index = base36(36 ** 3 - 1)
/** Number of the draft that a wizard's button belongs to: four digits. */
const rev = base36(36 ** 4 - 1)
const count = base36(36 ** 2 - 1)
/** An instant, in seconds since 1970. */
const second = base36(36 ** 7 - 1)
/** Id of a group, which is negative, without its sign. */
const groupId = z.codec(
  z.string().regex(/^[1-9a-z][0-9a-z]{0,9}$/),
  z.int().min(Number.MIN_SAFE_INTEGER).max(-1),
  {
    decode: (text) => -Number.parseInt(text, 36),
    encode: (chatId) => (-chatId).toString(36),
  },
)
const flag = z.codec(z.enum(['0', '1']), z.boolean(), {
  decode: (text) => text === '1',
  encode: (value) => (value ? '1' : '0'),
})
/**
 * A one-time link code. The chat already contains the link with this code, so the button reveals nothing
 * new.
 */
const code = z.string().regex(/^[\w-]{22}$/)
const locale = z.enum(LOCALES)
/** Ids in the registries of watches. */
const type = z.string().regex(/^[a-z][a-z-]{0,19}$/)
const signal = z.string().regex(/^[a-z][a-z0-9-]{0,19}$/)
const parameter = z.string().regex(/^[a-zA-Z]{1,14}$/)
const group = z.enum(SIGNAL_GROUPS)
/** A setting by its short name. */
const field = z.string().regex(/^[a-z]{2,4}$/)
/** Value of a setting: a decimal, a number of seconds, one of several words. */
const value = z.string().regex(/^[\w.+-]{1,14}$/)
const parameterValue = z.string().regex(/^[\w.+-]{1,5}$/)
/** Duration of a mute. `8am`: until 08:00. `rec`: until the alert recovers. `0`: ends the mute. */
const duration = z.enum(['1h', '8h', '24h', '7d', '8am', 'rec', '0'])
export type MuteDuration = z.output<typeof duration>
/** Id of a window of planned maintenance. */
const windowId = z.string().regex(/^[\w-]{1,36}$/)
/** A short word of one feature. */
const word = z.string().regex(/^[a-z0-9]{1,3}$/)
/** A page of the help, or the next step after terms are accepted. */
const topic = z.string().regex(/^[a-z]{1,8}$/)
/** First hex digits of the SHA-256 of the shown version of the terms. */
const terms = z.string().regex(/^[0-9a-f]{8}$/)
/** What is opened below an alert: why, causes, what to do, the ways to mute. */
const part = z.enum(['w', 'c', 'd', 'm'])
export type PartCode = z.output<typeof part>
/** Name of a price feed. */
const feed = z.string().regex(/^[\w.+-]{1,16}\/[\w.+-]{1,8}$/)
const address = bytes<Address>(20, 27, (hex) => getAddress(`0x${hex}`))
const handle = bytes<Hash>(32, 43, (hex) => `0x${hex}`)
const asset = z.string().regex(/^[\w.-]{1,11}$/)
const credits = z.codec(z.string().regex(/^[1-9]\d{0,8}$/), z.int().min(1).max(999_999_999), {
  decode: Number,
  encode: String,
})
/** A cursor from the operation that lists; undefined at the start of the list. */
const cursor = optional(z.string().regex(/^[\w.-]{1,24}$/))
/** A mailbox that a person typed, if it fits; the operation that gets it checks it. */
const mailbox = z.string().regex(/^[\x21-\x39\x3b-\x7e]{3,53}$/)
const zone = z.string().regex(/^[A-Za-z][\w/+-]{1,31}$/)
const signals = z.enum(['all', 'crt', 'def'])

const TIMES = { a: 'all', d: '24h', w: '7d', m: '30d' } as const

/** Filter of a list of alerts. */
export interface AlertFilter {
  readonly time: (typeof TIMES)[keyof typeof TIMES]
  /** Undefined for all watches. */
  readonly watchId: number | undefined
}

const filter = z.codec(
  z.string().regex(/^[adwm](?:[1-9a-z][0-9a-z]{0,6})?$/),
  z.custom<AlertFilter>((value) => typeof value === 'object' && value !== null),
  {
    decode: (text, context) => {
      const time = nameOf(TIMES, text[0])
      const watch = optional(id).safeParse(text.slice(1))
      if (time && watch.success) return { time, watchId: watch.data }
      context.issues.push({ code: 'custom', input: text })
      return z.NEVER
    },
    encode: ({ time, watchId }) => letterOf(TIMES, time) + z.encode(optional(id), watchId),
  },
)

function nameOf<Name extends string>(
  names: Readonly<Record<string, Name>>,
  letter: string | undefined,
): Name | undefined {
  return letter === undefined ? undefined : names[letter]
}

function letterOf(names: Readonly<Record<string, string>>, name: string): string {
  const entry = Object.entries(names).find(([, entryName]) => entryName === name)
  if (entry === undefined) throw new Error(`no letter for ${name}`)
  return entry[0]
}

export const VERBS = {
  home: {},
  none: {},
  close: {},
  demo: {
    // Capital letters stand for the example for holders of FLR.
    part: z.enum(['s', 'a', 'q', 'm', 'd', 'S', 'A', 'Q', 'M', 'D']),
    opened: optional(second),
    acknowledged: flag,
    muted: flag,
    open: optional(part),
  },
  connect: { spend: flag },
  'connect.watch': { type, address },
  'feed.watch': { feed },
  'look.up': { address },
  'follow.on': { address },
  'follow.off': { address },
  'link.yes': { code },
  'link.no': { code },
  'wallet.list': {},
  'wallet.page': { page },
  'wallet.use': { id },
  'terms.yes': { next: topic, terms },
  'trial.start': { next: topic, terms },
  // Starts the free trial with a watch; the name is short, because its arguments are long.
  free: { type, address, terms },
  'trial.feed': { feed, terms },
  'watch.list': { page },
  'watch.card': { id },
  'watch.pause': { id },
  'watch.resume': { id },
  'watch.unmute': { id },
  'watch.mute': { id },
  'watch.muteFor': { id, duration },
  'watch.edit': { id, field },
  'watch.ask': { id, field },
  'watch.set': { id, field, value },
  // Shows the offered values, each with the alerts that it would have sent.
  'watch.try': { id, field },
  'watch.who': { id, page },
  'watch.whoAll': { id },
  'watch.whoFlip': { id, recipient: id },
  'watch.esc': { id },
  'watch.escWho': { id },
  'watch.escAfter': { id, minutes: count },
  'watch.escFlip': { id, recipient: id },
  'watch.escLater': { id, recipient: id },
  'watch.test': { id },
  'watch.testTo': { id, to: z.enum(['here', 'all']) },
  'test.press': {},
  'test.try': { what: z.enum(['ack', 'mute', 'rec']) },
  'test.open': { part },
  'watch.more': { id },
  'watch.rule': { id },
  'watch.delete': { id },
  'watch.deleteYes': { id },
  'signal.list': { id },
  'signal.group': { id, group },
  'signal.card': { id, signal },
  'signal.all': { id, signals },
  'signal.flip': { id, signal },
  'signal.set': { id, signal, parameter, value: parameterValue },
  'signal.ask': { id, signal, parameter },
  'signal.help': { id, signal },
  'new.start': {},
  'new.type': { type, address: optional(address) },
  'new.pick': { rev, index },
  'new.page': { rev, page },
  'new.set': { rev, field, value },
  'new.flip': { rev, signal },
  'new.who': { rev, id },
  'new.ask': { rev, field },
  'new.next': { rev },
  'new.back': { rev },
  'new.cancel': { rev },
  'new.create': { rev },
  'alert.card': { id },
  'alert.ack': { id },
  'alert.unack': { id },
  'alert.ackAll': {},
  'alert.unackAll': {},
  'alert.mute': { id, duration },
  'alert.open': { id, part },
  'alert.list': { filter, cursor },
  status: {},
  'status.pin': { on: flag },
  'status.pick': {},
  'status.provider': { address },
  topup: {},
  'topup.asset': { asset },
  'topup.quote': { asset, credits },
  'topup.slots': { quantity: count, periods: index, renew: flag },
  'topup.buy': { asset, credits, quantity: count, periods: index, renew: flag },
  'topup.check': { handle },
  'topup.ways': { handle },
  slots: {},
  'slots.list': {},
  'slots.quote': { quantity: count, periods: index, renew: flag },
  'slots.allow': { quantity: count, periods: index, renew: flag },
  'wizard.allow': { quantity: count, periods: index, renew: flag },
  'slots.agree': { quantity: count, periods: index, renew: flag, terms },
  'slots.buy': { quantity: count, periods: index, renew: flag, credits },
  'slots.renew': { id, on: flag },
  'slots.renewAll': { on: flag },
  'slots.again': { id },
  'slots.payTerm': { id, term: index, credits },
  'rec.list': {},
  'rec.page': { page },
  'rec.card': { id },
  'rec.log': { id, cursor },
  'rec.more': { id },
  'rec.add': {},
  'rec.kind': { type },
  'rec.mail': { mailbox },
  'rec.group': { chat: groupId, topic: optional(id), rights: optional(word) },
  'rec.channel': { chat: groupId },
  'rec.ask': { id },
  'rec.test': { id },
  'rec.resend': { id },
  'rec.rotate': { id },
  'rec.rotateYes': { id },
  'rec.saved': { id },
  'rec.sev': { id, level: word },
  'rec.hear': { id, page },
  'rec.hearAll': { id },
  'rec.hearSome': { id },
  'rec.hearType': { id, type },
  'rec.hearFlip': { id, watch: id },
  'rec.lang': { id },
  'rec.langSet': { id, locale },
  'rec.zone': { id },
  'rec.zoneSet': { id, zone },
  'rec.revive': { id },
  'rec.kept': { id },
  'rec.keptDrop': { id },
  'rec.delete': { id },
  'rec.deleteYes': { id },
  settings: {},
  'settings.alerts': {},
  'settings.lang': {},
  'settings.langSet': { locale },
  'settings.zone': { region: word, page },
  'settings.zoneSet': { zone },
  'settings.quiet': { field, value },
  'settings.digest': { value },
  'settings.remind': { choice: word },
  'settings.severity': { level: word },
  'settings.recoveries': { on: flag },
  'settings.weekly': { on: flag },
  'settings.report': { on: flag },
  'mute.list': {},
  'mute.all': { duration },
  'mute.off': { kind: word, id },
  maintenance: {},
  'maintenance.ask': {},
  /** Without an instant the window begins at once. */
  'maintenance.add': { opened: optional(second), minutes: count },
  'maintenance.card': { windowId },
  'maintenance.repeat': { windowId, on: flag },
  'maintenance.end': { windowId },
  help: { topic: optional(topic) },
  'group.settings': {},
  'group.members': { on: flag },
  'group.hear': { level: word },
  'group.topic': { choice: word },
  stop: {},
  'stop.unlink': { id },
  'stop.data': {},
  'stop.dataYes': {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, Argument>>>>

export type Verb = keyof typeof VERBS
