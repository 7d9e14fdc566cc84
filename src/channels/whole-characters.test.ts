import { expect, test } from 'vitest'
import { envelopeOf } from '../../test/support/envelopes.ts'
import { CHANNEL_KEYS, REGISTRY as CHANNELS } from './index.ts'
import { mailSubject } from './mail/text.ts'

const FAMILY = '👨‍👩‍👧‍👦'
const FAMILIES = FAMILY.repeat(40)
const WALLET = `0x${'1'.repeat(40)}`
/** Half a pair of surrogates, or a person who stands without the family. */
const BROKEN = /\p{Surrogate}|[👨👩👧👦]/u

/** The texts that a channel sends for an alert whose every text has forty families. */
function textsOf(channel: (typeof CHANNEL_KEYS)[number]): string {
  const field = { key: 'memo', label: FAMILIES, value: FAMILIES }
  const texts = { watchLabel: FAMILIES, title: FAMILIES, body: FAMILIES.repeat(50) }
  const envelope = envelopeOf({ message: { ...texts, fields: [field] } })
  return Object.values(CHANNELS[channel].preview.write(envelope, WALLET)).join('\n')
}

test.each(CHANNEL_KEYS)('%s cuts no family of emoji apart', (channel) => {
  const text = textsOf(channel)
  expect(text).toContain(FAMILY)
  // A folded line and an escaped character are not part of the text.
  expect(text.replaceAll(FAMILY, '')).not.toMatch(BROKEN)
})

test('the subject of an e-mail ends in a whole family', () => {
  const subject = mailSubject(FAMILIES, { isAnswer: true })
  expect(subject).toBe(`Re: ${FAMILY.repeat(10)}…`)
})
