import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import type { Envelope, MessageButton } from '#src/channels/envelope.ts'
import { alertView } from '#src/channels/telegram-alert.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { envelopeOf } from '../../test/support/envelopes.ts'
import { inMessages, noticesTogether } from './notices-together.ts'

const t = translator('en')

function noticeOf(title: string, buttons: readonly MessageButton[], severity: Severity = 'info') {
  const message = { title, body: `${title}, in a sentence.`, severity, isRecovery: false }
  return { ...envelopeOf({ message }), kind: 'notice', buttons: [buttons] } satisfies Envelope
}

const labelsOf = ({ buttons = [] }: Envelope) => buttons.flat().map(({ label }) => label)

test('one notice stays as it is', () => {
  const one = noticeOf('A', [{ label: 'Menu', act: packed('home') }])
  expect(noticesTogether(t, [one], 'id')).toEqual({ ...one, deliveryId: 'id' })
})

test('several have the content of all, the worst first', () => {
  const parts = [noticeOf('A', []), noticeOf('B', [], 'warning'), noticeOf('C', [])] as const
  const { message, deliveryId, buttons } = noticesTogether(t, parts, 'id')
  expect(deliveryId).toBe('id')
  expect(message.title).toBe('B · 2 more')
  expect(message.body).toBe('B, in a sentence.\n\n▪️ A\nA, in a sentence.\n\n▪️ C\nC, in a sentence.')
  expect(buttons).toEqual([])
})

test('buttons with one label for several subjects lead to the list of them, and none closes', () => {
  const linked = (id: number) =>
    noticeOf(`Chat ${id}`, [
      { label: 'It was me', act: packed('close') },
      { label: 'Remove…', act: packed('rec.delete', { id }) },
    ])
  expect(labelsOf(noticesTogether(t, [linked(7), linked(8)], 'id'))).toEqual(['Recipients'])
  const other = noticeOf('Credits', [{ label: 'Slots', act: packed('slots') }])
  expect(labelsOf(noticesTogether(t, [linked(7), other], 'id'))).toEqual(['Remove…', 'Slots'])
})

test('links with one label for several subjects lead to the menu of the bot', () => {
  const linked = (id: number) =>
    noticeOf(`Chat ${id}`, [{ label: 'Remove…', url: `https://t.me/watchdog_bot?start=r${id}` }])
  expect(noticesTogether(t, [linked(7), linked(8)], 'id').buttons).toEqual([
    [{ label: 'Menu', url: 'https://t.me/watchdog_bot?start=menu' }],
  ])
})

test('no message of several notices is cut, and none is lost or moved', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(lengths, (all) => {
      const rows = all.map((length, index) => {
        const one = noticeOf(`N${index}`, [])
        const body = `${'x'.repeat(length)} end of ${index}.`
        return { index, envelope: { ...one, message: { ...one.message, body } } }
      })
      const messages = inMessages(rows)
      expect(messages.flat()).toEqual(rows)
      for (const [first, ...others] of messages) {
        const envelopes = others.map(({ envelope }) => envelope)
        const { plain } = alertView(noticesTogether(t, [first.envelope, ...envelopes], 'id'))
        for (const { index } of [first, ...others]) expect(plain).toContain(`end of ${index}.`)
      }
    }),
    { numRuns: 50 },
  )
})
