/** What the buttons of notices do in a chat: data of the bot's codec, which reads it again. */

/** The data of a button: its verb and arguments. */
function act(verb: string, ...args: readonly Argument[]): string {
  return ['1', verb, ...args.map(written)].join(':')
}

type Argument = number | boolean | '' | 'ask'

function written(argument: Argument): string {
  return typeof argument === 'boolean' ? String(Number(argument)) : argument.toString(36)
}

/** Every act of a notice. */
export const ACTS = {
  close: () => act('close'),
  home: () => act('home'),
  topup: () => act('topup'),
  slots: () => act('slots'),
  /** A quote for so many slots, for one period, without renewal. */
  quoteSlots: (quantity: number) => act('slots.quote', quantity, 1, false),
  renew: (subscriptionId: number) => act('slots.renew', subscriptionId, true),
  watches: () => act('watch.list', 1),
  status: () => act('status'),
  recipients: () => act('rec.list'),
  recipient: (id: number) => act('rec.card', id),
  revive: (id: number) => act('rec.revive', id),
  log: (id: number) => act('rec.log', id, ''),
  /** Asks where in a group with topics its alerts go. */
  topic: () => act('group.topic', 'ask'),
  remove: (id: number) => act('rec.delete', id),
} as const
