import { expect, test } from 'vitest'
import { mailText } from './text.ts'

test('a line without letters from right to left has no direction marks, and nothing to press', () => {
  const name = 'pay\u2068.\u2069evil.com $\u2068USDC\u2069'
  const text = mailText([name, { url: 'https://watchdog.example/account' }])
  expect(text).toContain('pay.\u2060evil.\u2060com $\u2060USDC')
  expect(text).toContain('https://watchdog.example/account')
})

test('direction marks stay where letters run from right to left', () => {
  expect(mailText(['\u2068مراقبة\u2069 FLR'])).toContain('\u2068مراقبة\u2069 FLR')
})
