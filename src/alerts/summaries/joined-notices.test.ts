import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import type { Envelope, MessageButton } from '#src/channels/envelope.ts'
import type { NoticeFacts } from '#src/channels/notice-facts.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { runs } from '../../../test/support/runs.ts'
import { joinNotices, splitIntoMessages } from './joined-notices.ts'

const t = translator('en')
const AS = { deliveryId: 'id', now: new Date('2026-12-20T12:00:00.000Z') }

function noticeOf(title: string, buttons: readonly MessageButton[], severity: Severity = 'info') {
  const message = { title, body: `${title}, in a sentence.`, severity, isRecovery: false }
  return { ...envelopeOf({ message }), kind: 'notice', buttons: [buttons] } satisfies Envelope
}

const labelsOf = ({ buttons = [] }: Envelope) => buttons.flat().map(({ label }) => label)

test('one notice stays as it is', () => {
  const notice = noticeOf('A', [{ label: 'Menu', act: packed('home') }])
  expect(joinNotices(t, [notice], AS)).toEqual({ ...notice, deliveryId: 'id' })
})

test('several have the content of all, the worst first', () => {
  const parts = [noticeOf('A', []), noticeOf('B', [], 'warning'), noticeOf('C', [])] as const
  const { message, deliveryId, buttons } = joinNotices(t, parts, AS)
  expect(deliveryId).toBe('id')
  expect(message.title).toBe('B · 2 more messages')
  expect(message.body).toBe(
    '▪️ B\nB, in a sentence.\n\n▪️ A\nA, in a sentence.\n\n▪️ C\nC, in a sentence.',
  )
  expect(buttons).toEqual([])
})

/** A notice with what it counts, as `notices/service` writes it. */
const NO_FACTS = { endsAt: null, stopping: null, renewal: null, offers: [], balanceCredits: null }

function countedOf(
  event: string,
  facts: Partial<NoticeFacts> & { readonly count: number },
  body = 'In a sentence.',
): Envelope {
  const notice = noticeOf(`${event} ${facts.count}`, [])
  return {
    ...notice,
    data: { facts: { ...NO_FACTS, ...facts } },
    timezone: 'UTC',
    message: { ...notice.message, event: `notice.${event}`, body },
  }
}

const NOV_20 = new Date('2026-11-20T12:00:00.000Z')
const DEC_27 = '2026-12-27T12:00:00.000Z'

test('slots that end on one day are added up, with the watches of all', () => {
  const notice = countedOf('slots-end', { count: 1, endsAt: DEC_27, stopping: ['FLR/USD'] })
  const two = countedOf('slots-end', { count: 2, endsAt: DEC_27, stopping: ['Alpha', 'FLR/USD'] })
  const { message } = joinNotices(t, [notice, two], AS)
  expect(message.title).toBe('3 slots end on Dec 27, 2026')
  expect(message.body).toBe(
    'Without renewal, these watches will be suspended: \u2068Alpha\u2069 and \u2068FLR/USD\u2069.',
  )
  const other = countedOf('slots-end', {
    count: 1,
    endsAt: '2026-12-29T12:00:00.000Z',
    stopping: [],
  })
  expect(joinNotices(t, [notice, other], AS).message.title).toBe('slots-end 1 · 1 more message')
})

test('renewals of one day are added up, with their whole price', () => {
  const ahead = (count: number, balanceCredits: number) =>
    countedOf('renewal-ahead', {
      count,
      endsAt: DEC_27,
      renewal: { credits: count * 500, missingCredits: 0 },
      balanceCredits,
    })
  const { message } = joinNotices(t, [ahead(1, 9000), ahead(2, 8000)], { ...AS, now: NOV_20 })
  expect(message.title).toBe('Auto-renew on Dec 27, 2026: 3 slots · 1.50\u00a0USD (1,500 credits)')
  expect(message.body).toBe(
    'You have 8\u00a0USD (8,000 credits).\n' +
      'No action needed. To let the slots expire, turn off auto-renew under Slots.',
  )
})

test('renewed slots are added up, with what was paid for all of them', () => {
  const renewed = (count: number, balanceCredits: number) =>
    countedOf('renewed', {
      count,
      endsAt: DEC_27,
      renewal: { credits: count * 500, missingCredits: 0 },
      balanceCredits,
    })
  expect(joinNotices(t, [renewed(1, 1500), renewed(2, 500)], AS).message).toMatchObject({
    title: '3 slots renewed until Dec 27, 2026 · 1.50\u00a0USD (1,500 credits)',
    body: 'Left: 0.50\u00a0USD (500 credits).',
  })
})

test('renewals that lack credits are added up, with all that is missing', () => {
  // 400 credits are there: neither renewal is paid, and both together lack 600.
  const short = (labels: string[]) =>
    countedOf('slots-end', {
      count: 1,
      endsAt: DEC_27,
      stopping: labels,
      renewal: { credits: 500, missingCredits: 100 },
    })
  const ends = countedOf('slots-end', { count: 4, endsAt: DEC_27, stopping: [] })
  const parts = [short(['Alpha']), short(['Alpha', 'Beta'])] as const
  expect(joinNotices(t, parts, { ...AS, now: NOV_20 }).message).toMatchObject({
    title: '2 slots end on Dec 27, 2026',
    body:
      'Renewal costs 1\u00a0USD (1,000 credits); you are 0.60\u00a0USD (600 credits) short.\n' +
      'If renewal fails, these watches will be suspended: \u2068Alpha\u2069 and \u2068Beta\u2069.',
  })
  const { title } = joinNotices(t, [...parts, ends], { ...AS, now: NOV_20 }).message
  expect(title).toBe('2 slots end on Dec 27, 2026 · 1 more message')
})

test('slots that end have the price of auto-renew, added up for each duration', () => {
  const ends = (credits: number, periods: number) =>
    countedOf('slots-end', {
      count: 1,
      endsAt: DEC_27,
      stopping: [],
      offers: [{ credits, periods }],
    })
  const parts = [ends(500, 1), ends(1350, 3), ends(1000, 1)] as const
  expect(joinNotices(t, parts, { ...AS, now: NOV_20 }).message.body).toBe(
    'No watch will be suspended: your other slots are enough.\n' +
      'With auto-renew: 1.50\u00a0USD (1,500 credits) every 30 days.\n' +
      'With auto-renew: 1.35\u00a0USD (1,350 credits) every 90 days.',
  )
})

test('suspended watches are added up beside a receipt, unless some run again', () => {
  const suspended = (label: string) => countedOf('suspended', { count: 1 }, `${label}.\nKept.`)
  const renewed = countedOf('renewed', { count: 1, endsAt: DEC_27 }, 'Paid.')
  const { title, body } = joinNotices(t, [suspended('A'), renewed, suspended('B')], AS).message
  expect(title).toBe('2 watches suspended · 1 more message')
  expect(body).toBe('▪️ 2 watches suspended\nA.\nB.\nKept.\n\n▪️ renewed 1\nPaid.')
  const again = countedOf('resumed', { count: 1 })
  expect(joinNotices(t, [suspended('A'), again, suspended('A')], AS).message.title).toBe(
    'suspended 1 · 2 more messages',
  )
})

test('a reminder that is sent after the end says that the end is over', () => {
  const late = { ...AS, now: new Date(DEC_27) }
  const notice = countedOf('slots-end', { count: 1, endsAt: DEC_27, stopping: ['A'] })
  const over = '1 slot expired on Dec 27, 2026'
  const delayed = 'This message was delayed. Your current slots are listed under Slots.'
  expect(joinNotices(t, [notice], late).message).toMatchObject({ title: over, body: delayed })
  expect(joinNotices(t, [notice, notice], late).message.title).toBe(
    '2 slots expired on Dec 27, 2026',
  )
  const trial = countedOf('trial-ends', { count: 1, endsAt: DEC_27 })
  expect(joinNotices(t, [trial, notice], late).message.body).toBe(
    `▪️ Your trial has ended\n${delayed}\n\n▪️ ${over}\n${delayed}`,
  )
})

test('facts that are no facts leave the notice as it is', () => {
  const notice = countedOf('slots-end', { count: 1, endsAt: DEC_27, stopping: ['A'] })
  const broken = { ...notice, data: { facts: { count: 'x', endsAt: 'soon' } } }
  const { title, body } = joinNotices(t, [broken, notice], { ...AS, now: new Date(0) }).message
  expect(title).toBe('slots-end 1 · 1 more message')
  expect(body).toContain('▪️ slots-end 1\nIn a sentence.')
})

test('buttons with one label for several subjects lead to the list of them, and none closes', () => {
  const linked = (id: number) =>
    noticeOf(`Chat ${id}`, [
      { label: 'It was me', act: packed('close') },
      { label: 'Remove…', act: packed('rec.delete', { id }) },
    ])
  expect(labelsOf(joinNotices(t, [linked(7), linked(8)], AS))).toEqual(['Recipients'])
  const other = noticeOf('Credits', [{ label: 'Slots', act: packed('slots') }])
  expect(labelsOf(joinNotices(t, [linked(7), other], AS))).toEqual(['Remove…', 'Slots'])
})

test('links with one label for several subjects lead to the menu of the bot', () => {
  const linked = (id: number) =>
    noticeOf(`Chat ${id}`, [{ label: 'Remove…', url: `https://t.me/watchdog_bot?start=r${id}` }])
  expect(joinNotices(t, [linked(7), linked(8)], AS).buttons).toEqual([
    [{ label: 'Menu', url: 'https://t.me/watchdog_bot?start=menu' }],
  ])
})

test('no message of several notices is cut, and none is lost or moved', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(lengths, (all) => {
      const rows = all.map((length, index) => {
        const notice = noticeOf(`N${index}`, [])
        const body = `${'x'.repeat(length)} end of ${index}.`
        return { index, envelope: { ...notice, message: { ...notice.message, body } } }
      })
      const messages = splitIntoMessages(rows)
      expect(messages.flat()).toEqual(rows)
      for (const [first, ...others] of messages) {
        const envelopes = others.map(({ envelope }) => envelope)
        const { plain } = alertView(joinNotices(t, [first.envelope, ...envelopes], AS))
        for (const { index } of [first, ...others]) expect(plain).toContain(`end of ${index}.`)
      }
    }),
    { numRuns: runs(50) },
  )
})
