import { describe, expect, test } from 'vitest'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import { checkedKey, translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { DUTY_RESULTS, type DutyResult } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { everyPictureText } from '../../test/support/picture-texts.ts'
import { outlineFontOf, outlineOf } from './outlines.ts'
import { drawableName, drawProvider } from './provider-picture.ts'

const LAST = 1_519_400
const AS_OF = new Date('2026-11-20T14:05:12.000Z')

/** A provider whose cells are given by the round's index from the newest on and its row. */
function view(
  rounds: number,
  cellOf: (back: number, row: number) => DutyResult,
  over: Partial<ProviderView> = {},
): ProviderView {
  return {
    provider: '0x12ab4F1111111111111111111111111111cd3412',
    addresses: null,
    rewardEpoch: 452,
    registered: true,
    registeredNext: null,
    registrationOpensAt: null,
    inPolicy: true,
    weight: 0.0231,
    currentRound: LAST + 2,
    rounds: Array.from({ length: rounds }, (_, back) => ({
      id: LAST - back,
      startsAt: AS_OF,
      ftso: { commit: cellOf(back, 0), reveal: cellOf(back, 1), signature: cellOf(back, 2) },
      fdc: { bitvote: cellOf(back, 3), signature: cellOf(back, 4) },
    })),
    others: null,
    fastUpdates: { lastUpdateBlock: 1, blocksSinceUpdate: 12, probabilityOfSilence: 0.31 },
    last30Days: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    validators: null,
    balances: [],
    asOf: AS_OF,
    stale: false,
    ...over,
  }
}

const dark20 = { rounds: 20, palette: 'dark', locale: 'en' } as const
/** The texts of a drawing. */
const texts = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, text]) => text?.replaceAll(/<[^>]*>/g, ''))
/** The shape of a state's cell, without colours. */
const shapeOf = (state: DutyResult) =>
  drawProvider(
    view(20, () => state),
    dark20,
  )
    .replaceAll(/#[0-9A-F]{6}/g, '')
    .replaceAll(/<text.*?<\/text>/g, '')

describe('the picture of a provider', () => {
  test('is the same each time for the same data', () => {
    const facts = view(20, (back, row) => ((back + row) % 5 === 0 ? 'missing' : 'ok'))
    expect(drawProvider(facts, dark20)).toBe(drawProvider(structuredClone(facts), dark20))
  })

  test('shows every state by its shape, without colour', () => {
    expect(new Set(DUTY_RESULTS.map(shapeOf)).size).toBe(DUTY_RESULTS.length)
  })

  test('has Latin letters only in English, and no markup in texts', () => {
    for (const rounds of [20, 100] as const) {
      for (const palette of ['dark', 'light', 'page'] as const) {
        const svg = drawProvider(
          view(rounds, (back) => DUTY_RESULTS[back % 7] ?? 'ok'),
          { rounds, palette, locale: 'en' },
        )
        expect(texts(svg).join('')).toMatch(/^[\x20-\x7e\u00a0…·–]*$/)
      }
    }
  })

  test('has no time in a chat, whose message has one in the zone of the chat', () => {
    const facts = view(20, () => 'ok')
    expect(texts(drawProvider(facts, dark20))).toContain('Reward epoch 452 · Round 1519402')
    const zoned = texts(drawProvider(facts, { ...dark20, timezone: 'Europe/Berlin' }))
    expect(zoned).toContain('Reward epoch 452 · Round 1519402 · 15:05\u00a0UTC+1')
  })

  test('names the provider, the reward epoch, the round and the time', () => {
    const written = texts(
      drawProvider(
        view(20, () => 'ok'),
        { ...dark20, timezone: 'UTC' },
      ),
    )
    expect(written).toContain('0x12ab…3412')
    expect(written).toContain('Reward epoch 452 · Round 1519402 · 14:05\u00a0UTC')
    expect(written).toEqual(expect.arrayContaining(['385', '390', '395', '400']))
    expect(written).toEqual(expect.arrayContaining(['12 blocks', '2.31%', '453']))
  })

  test.each([
    ['Alpha', 'Alpha'],
    ['Älpha & <Söhne>', 'Älpha &amp; &lt;Söhne&gt;'],
    ['\u2068Alpha\u2069', 'Alpha'],
    ['A'.repeat(64), `${'A'.repeat(35)}…`],
    // The font has neither Chinese nor emoji.
    ['阿尔法', '0x12ab…3412'],
    ['Alpha 🚀', '0x12ab…3412'],
    ['', '0x12ab…3412'],
  ])('is headed for the name %s', (name, heading) => {
    const svg = drawProvider(
      view(20, () => 'ok'),
      { ...dark20, name },
    )
    expect(texts(svg)[0]).toBe(heading)
  })

  test('has headings and values inside its borders, in letters that a phone shows large enough', () => {
    const fastUpdates = { lastUpdateBlock: 1, blocksSinceUpdate: 123_456, probabilityOfSilence: 0 }
    const svg = drawProvider(
      view(20, () => 'ok', { fastUpdates }),
      { ...dark20, name: 'W'.repeat(40) },
    )
    const written = [...svg.matchAll(/<text x="([\d.]+)"[^>]*font-size="(\d+)"[^>]*>([^<]*)</g)]
    // A chat on a phone shows 1280 units on 340 pixels.
    for (const [, , size] of written) expect((Number(size) * 340) / 1280).toBeGreaterThan(9)
    const [value] = written.filter(([, , , content]) => content?.startsWith('123,456'))
    // The number in bold letters, the word in smaller ones.
    const wide = 6 * 0.7 + 2 * 0.38 + 0.62 * 0.6 * 'blocks'.length
    expect(Number(value?.[2]) * wide).toBeLessThan(384 - 2 * 24)
  })

  test('has a column for each round, also for rounds without data', () => {
    const facts = view(5, () => 'ok')
    const gone = { ...facts, rounds: facts.rounds.filter(({ id }) => id !== LAST - 2) }
    const count = (svg: string) => svg.split('<circle').length - 1
    // Fifteen rounds of five rows, beside the circle of the missing registration.
    expect(count(drawProvider(facts, dark20))).toBe(15 * 5 + 1)
    expect(count(drawProvider(gone, dark20))).toBe(16 * 5 + 1)
  })

  test('marks problems below the bars if it shows a hundred rounds', () => {
    const circles = (state: DutyResult) =>
      drawProvider(
        view(100, (back, row) => (back === 3 && row === 1 ? state : 'ok')),
        { rounds: 100, palette: 'dark', locale: 'en' },
      ).match(/r="3.5"/g) ?? []
    expect(circles('ok')).toHaveLength(0)
    expect(circles('missing')).toHaveLength(1)
  })

  test('is dimmed when its data is old', () => {
    expect(
      drawProvider(
        view(20, () => 'ok', { stale: true }),
        dark20,
      ),
    ).toContain('opacity="0.6"')
    expect(
      drawProvider(
        view(20, () => 'ok'),
        dark20,
      ),
    ).not.toContain('opacity')
  })

  test('has only the grid on a web page, in the colours of the page', () => {
    const svg = drawProvider(
      view(20, (back) => DUTY_RESULTS[back % 7] ?? 'ok'),
      { rounds: 20, palette: 'page', locale: 'en' },
    )
    expect(svg).not.toMatch(/#[0-9A-Fa-f]{3,6}/)
    expect(svg).toContain('var(--picture-ok)')
    expect(texts(svg)).not.toContain('Weight')
  })
})

describe('the words of a picture', () => {
  test.each(LOCALES)('are in the language of the reader: %s', (locale) => {
    const facts = view(20, () => 'ok')
    const svg = drawProvider(facts, { ...dark20, locale, palette: 'page' })
    const written = new Set(texts(svg).map((text) => withoutIsolates(text ?? '')))
    for (const signal of ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote']) {
      const name = translate(locale, checkedKey(`signals:provider-fsp.${signal}.short`))
      expect(written).toContain(withoutIsolates(name))
    }
  })

  test.each(LOCALES)('can all be drawn by the fonts of the service in %s', (locale) => {
    const missing = everyPictureText(locale).filter((content) =>
      outlineFontOf(content) === undefined
        ? drawableName(content) === undefined
        : outlineOf(content) === undefined,
    )
    // Run `npm run outlines` after a word of a picture has changed.
    expect(missing).toEqual([])
  })

  test.each(LOCALES.filter((locale) => locale !== 'en'))('have nothing English in %s', (locale) => {
    const english = new Set(everyPictureText('en').filter((content) => /\p{L}{4}/u.test(content)))
    // German and French have some names of the protocol and the unit of time from English.
    const shared = ['Commit', 'Reveal', 'Signature', 'Fast Updates', 'Incidents']
    const left = everyPictureText(locale).filter((content) => english.has(content))
    expect(left.filter((content) => !shared.includes(content))).toEqual([])
  })

  test('have no number that only machines write', () => {
    const fastUpdates = {
      lastUpdateBlock: 1,
      blocksSinceUpdate: 900,
      probabilityOfSilence: 1.8e-15,
    }
    for (const locale of LOCALES) {
      const svg = drawProvider(
        view(20, () => 'ok', { fastUpdates }),
        { ...dark20, locale },
      )
      expect(texts(svg).join(' ')).not.toMatch(/\de[-+]?\d/)
    }
  })

  test('say by a mark whether chance explains the silence of fast updates', () => {
    const drawn = (probabilityOfSilence: number) =>
      drawProvider(
        view(20, () => 'ok', {
          fastUpdates: { lastUpdateBlock: 1, blocksSinceUpdate: 12, probabilityOfSilence },
        }),
        dark20,
      ).split('M13 13 31 31M31 13 13 31').length - 1
    expect([drawn(0.3), drawn(1e-9)]).toEqual([0, 1])
  })

  test('in Arabic stand at the right, and time runs from left to right as everywhere', () => {
    const svg = drawProvider(
      view(20, () => 'ok'),
      { ...dark20, locale: 'ar' },
    )
    const ticks = [...svg.matchAll(/<text x="([\d.]+)"[^>]*>(\d{3})</g)]
    const places = ticks.map(([, x, label]) => [label, Number(x)] as const)
    expect(places.map(([label]) => label)).toEqual(['385', '390', '395', '400'])
    expect(places.map(([, x]) => x)).toEqual(places.map(([, x]) => x).toSorted((a, b) => a - b))
    expect(svg).toMatch(/<text x="1240"[^>]*text-anchor="end"[^>]*>\u2067FTSO\u2069</u)
  })
})

test('the picture of a provider shows in how many hours registration opens, until it opens', () => {
  const registrationOpensAt = new Date('2026-11-23T05:00:00Z')
  const at = (asOf: string) => {
    const shown = view(0, () => 'ok', { registrationOpensAt, asOf: new Date(asOf) })
    return texts(drawProvider(shown, dark20)).filter((text) => / h$/.test(text ?? ''))
  }
  expect(at('2026-11-23T03:30:00Z')).toEqual(['2 h'])
  expect(at('2026-11-23T04:59:59Z')).toEqual(['1 h'])
  expect(at('2026-11-23T05:00:00Z')).toEqual([])
})
