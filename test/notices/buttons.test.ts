import { expect, test } from 'vitest'
import { unpacked } from '#src/actions/codec.ts'
import { ACTS } from '#src/notices/acts.ts'

const ID_MAX = 2_147_483_647
const CALLS: Readonly<Record<keyof typeof ACTS, () => string>> = {
  close: ACTS.close,
  home: ACTS.home,
  topup: ACTS.topup,
  slots: ACTS.slots,
  quoteSlots: () => ACTS.quoteSlots(20),
  renew: () => ACTS.renew(ID_MAX),
  watches: ACTS.watches,
  status: ACTS.status,
  recipients: ACTS.recipients,
  recipient: () => ACTS.recipient(ID_MAX),
  revive: () => ACTS.revive(ID_MAX),
  log: () => ACTS.log(ID_MAX),
  topic: ACTS.topic,
  remove: () => ACTS.remove(ID_MAX),
}

test.each(Object.entries(CALLS))('the act %s is one the bot understands', (_name, call) => {
  const data = call()
  const press = unpacked(data)
  expect(press?.verb).toBe(data.split(':')[1])
  expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
})

test('a quote and a renewal are those that were meant', () => {
  expect(unpacked(ACTS.quoteSlots(20))?.args).toEqual({ quantity: 20, periods: 1, renew: false })
  expect(unpacked(ACTS.renew(1296))?.args).toEqual({ id: 1296, on: true })
  expect(unpacked(ACTS.remove(71))?.args).toEqual({ id: 71 })
})
