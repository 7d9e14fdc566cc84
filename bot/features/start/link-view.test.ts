import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { linkCard } from './link-view.ts'

const offer = {
  wallet: '0x3f12000000000000000000000000000000000A91' as const,
  name: null,
  scopes: ['read'] as const,
  madeBy: null,
  createdAt: new Date('2026-11-20T13:05:12.000Z'),
  expiresAt: new Date('2026-11-20T13:20:12.000Z'),
  timezone: 'Europe/Berlin',
}

const CODE = 'A'.repeat(22)

test.each([
  'private',
  'group',
] as const)('the card of a link in a %s chat writes times as alerts do, in the zone that the chat gets', (place) => {
  const isGroup = place === 'group'
  const reader = { t: translator('en'), timezone: 'UTC', isGroup, bot: 'watchdog_bot' }
  const { html } = linkCard(reader, offer, { title: 'Crew', username: undefined, place }, CODE)
  expect(html).toContain('Created: 14:05\u00a0UTC+1')
  expect(html).toContain('Valid until: 14:20\u00a0UTC+1')
  expect(html).not.toContain('tg-time')
})
