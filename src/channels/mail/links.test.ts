import { expect, test } from 'vitest'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { alertMail } from './content.ts'

const reader = {
  address: 'ops@example.org',
  wallet: '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
  unsubscribeUrl: undefined,
}

test('HTML and text of an alert link to the page of a transaction, and leave out the field if its link is unsafe', () => {
  const value = `0x${'ab'.repeat(32)}`
  const href = `https://explorer.example.org/tx/${value}`
  const fields = [{ key: 'transaction', label: 'Transaction', value, href }]
  const { html, text } = alertMail(envelopeOf({ message: { fields } }), reader)
  expect(html).toContain(`href="${href}"`)
  expect(text).toContain(`\n\nTransaction\n${href}\n\nView alert\n`)
  const unsafe = fields.map((field) => ({ ...field, href: 'javascript:alert(1)' }))
  const other = alertMail(envelopeOf({ message: { fields: unsafe } }), reader)
  expect(other.html).not.toContain('javascript:')
  expect(other.text).not.toContain('javascript:')
  expect(other.text).not.toContain('Transaction\n')
})
