import { describe, expect, test } from 'vitest'
import { type ProviderView, ROUND_CELLS, type RoundCell } from '#src/watches/provider-view.ts'
import { drawProvider } from './provider-picture.ts'

const LAST = 1_519_400
const AS_OF = new Date('2026-11-20T14:05:12.000Z')

/** A provider whose cells are given by the round's index from the newest on and its row. */
function view(
  rounds: number,
  cellOf: (back: number, row: number) => RoundCell,
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
    fastUpdates: { lastUpdateBlock: 1, blocksSinceUpdate: 12, probabilityOfSilence: 0.31 },
    minimalConditions: { anchor: null, fdc: null, uptime: null },
    validators: null,
    balances: [],
    asOf: AS_OF,
    stale: false,
    ...over,
  }
}

const dark20 = { rounds: 20, palette: 'dark' } as const
/** The texts and shapes of a drawing. */
const texts = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)
/** The shape of a state's cell, without colours. */
const shapeOf = (state: RoundCell) =>
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
    expect(new Set(ROUND_CELLS.map(shapeOf)).size).toBe(ROUND_CELLS.length)
  })

  test('has Latin letters only, and no markup in texts', () => {
    for (const rounds of [20, 100] as const) {
      for (const palette of ['dark', 'light', 'page'] as const) {
        const svg = drawProvider(
          view(rounds, (back) => ROUND_CELLS[back % 7] ?? 'ok'),
          {
            rounds,
            palette,
          },
        )
        expect(texts(svg).join('')).toMatch(/^[\x20-\x7e…·–]*$/)
      }
    }
  })

  test('names the provider, the reward epoch, the round and the time', () => {
    const written = texts(
      drawProvider(
        view(20, () => 'ok'),
        dark20,
      ),
    )
    expect(written).toContain('0x12ab…3412')
    expect(written).toContain('Reward epoch 452 · Round 1519402 · 14:05 UTC')
    expect(written).toEqual(expect.arrayContaining(['385', '390', '395', '400']))
    expect(written).toEqual(expect.arrayContaining(['12 blk', 'P 0.31', '2.31%', '453']))
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
    const fastUpdates = { lastUpdateBlock: 1, blocksSinceUpdate: 1234567, probabilityOfSilence: 0 }
    const svg = drawProvider(
      view(20, () => 'ok', { fastUpdates }),
      { ...dark20, name: 'W'.repeat(40) },
    )
    const written = [...svg.matchAll(/<text x="([\d.]+)"[^>]*font-size="(\d+)"[^>]*>([^<]*)</g)]
    // A chat on a phone shows 1280 units on 340 pixels.
    for (const [, , size] of written) expect((Number(size) * 340) / 1280).toBeGreaterThan(9)
    const [value] = written.filter(([, , , content]) => content === '1234567 blk')
    expect(Number(value?.[2]) * 0.75 * '1234567 blk'.length).toBeLessThan(384 - 2 * 24)
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
    const circles = (state: RoundCell) =>
      drawProvider(
        view(100, (back, row) => (back === 3 && row === 1 ? state : 'ok')),
        {
          rounds: 100,
          palette: 'dark',
        },
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
      view(20, (back) => ROUND_CELLS[back % 7] ?? 'ok'),
      {
        rounds: 20,
        palette: 'page',
      },
    )
    expect(svg).not.toMatch(/#[0-9A-Fa-f]{3,6}/)
    expect(svg).toContain('var(--picture-ok)')
    expect(texts(svg)).not.toContain('Weight')
  })
})

test('the picture of a provider shows in how many hours registration opens, until it opens', () => {
  const registrationOpensAt = new Date('2026-11-23T05:00:00Z')
  const at = (asOf: string) => {
    const shown = view(0, () => 'ok', { registrationOpensAt, asOf: new Date(asOf) })
    return texts(drawProvider(shown, dark20)).filter((one) => / h$/.test(one ?? ''))
  }
  expect(at('2026-11-23T03:30:00Z')).toEqual(['2 h'])
  expect(at('2026-11-23T04:59:59Z')).toEqual(['1 h'])
  expect(at('2026-11-23T05:00:00Z')).toEqual([])
})
