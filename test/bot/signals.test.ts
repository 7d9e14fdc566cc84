import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { getWatch, updateWatch } from '#src/operations/rest/watches.ts'
import { saveStates } from '#src/watches/state-store.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'

let world: BotWorld
let ann: TestChat
let id: number

beforeAll(async () => {
  world = await botWorld()
  ann = await world.linked('alice')
})
afterAll(() => world.close())

beforeEach(async () => {
  world.clock.advance(90)
  const target = { provider: walletOf('bob') }
  id = await world.addWatch('alice', {
    label: 'Node A',
    type: 'provider-fsp',
    target,
    settings: {},
  })
  await ann.say(`/watches ${id}`)
})

async function signal(name: string) {
  const { signals } = await world.as('alice', getWatch, { params: { id: String(id) } })
  return signals.find((signal) => signal.id === name)
}

async function fires(name: string, streak: number): Promise<void> {
  const since = new Date(world.app.clock.now().getTime() - 12 * 60_000)
  await saveStates(world.app.db, [
    {
      watchId: id,
      state: {
        signal: name,
        state: { streak, severity: null },
        phase: 'firing',
        since,
        streak,
        severity: 'critical',
        lastEvidenceAt: since,
        lastFiredAt: since,
        changes: [],
        cooldownUntil: null,
      },
    },
  ])
}

const cardOf = (name: string) =>
  world.telegram.pressRaw(ann.id, ann.last().id, packed('signal.card', { id, signal: name }))

describe('the card of a provider', () => {
  test('counts its signals and names those that are active', async () => {
    expect(ann.last().text).toContain('Signals: 19 of 25 on')
    await fires('ftso-commit', 8)
    await ann.say(`/watches ${id}`)
    expect(ann.last().text).toMatch(/^🔴 \u2068Node A\u2069 · for 12 min/)
    expect(ann.last().text).toContain('Signals: 19 of 25 on · 🔴\u00a0Commit')
  })

  test('has a list of all signals by groups, the active ones first', async () => {
    await fires('ftso-commit', 8)
    await ann.press('Signals')
    expect(ann.last().text).toContain('Signals · \u2068Node A\u2069 · 19 of 25 on')
    expect(ann.last().text).toContain('FTSO: 🔴 Commit · ✓ Reveal · ✓ Signature')
    expect(ann.last().text).toContain(
      'FDC: ✓ Bit vote · ✓ FDC signature · ✓ FDC in submit1 · 2 more',
    )
    expect(ann.labels()[0]).toEqual(['🔴 Commit'])
    expect(ann.labels().flat()).toContain('FTSO 3/3')
    expect(ann.labels().flat().slice(-2)).toEqual(['‹ \u2068Node A\u2069', 'Minimum severity'])
    await ann.press('FDC 3/5')
    expect(ann.last().text).toContain('FDC · \u2068Node A\u2069 · 3 of 5 on')
    expect(ann.last().text).toContain('✓ Bit vote: ')
    expect(ann.labels()[0]).toEqual(['✓ Bit vote', '✓ FDC signature'])
    await ann.press('‹ Signals')
    expect(ann.labels().flat()).toContain('FTSO 3/3')
  })

  test('switches on all signals, the critical ones, or the default ones', async () => {
    await ann.press('Signals')
    await ann.press('All 25')
    expect(ann.last().text).toContain('25 of 25 on')
    await ann.press('21 can be critical')
    expect(await signal('reveal-offence')).toMatchObject({ enabled: true })
    expect(await signal('tx-failed')).toMatchObject({ enabled: false })
    await ann.press('19 usual')
    expect(ann.last().text).toContain('19 of 25 on')
  })
})

describe('the card of a signal', () => {
  test('says what it detects, how it is set and its state', async () => {
    await fires('ftso-commit', 8)
    cardOf('ftso-commit')
    await world.settle()
    const { text } = ann.last()
    expect(text).toContain('FTSO commit · FTSO · \u2068Node A\u2069')
    expect(text).toContain('🔴 Active for 12 min · 8 in a row · last seen')
    expect(text).toContain('Alerts when the provider sends no valid commit')
    expect(text).toContain('Missed rounds in a row: 2 (1 – 20, default 2)')
    expect(text).toContain('Rounds without data reset the count.')
    expect(ann.labels()).toEqual([
      ['Off'],
      ['1', '✓ 2', '3'],
      ['5', '10'],
      ['Other number…'],
      ['‹ \u2068FTSO\u2069', 'Help'],
    ])
  })

  test('is switched off and on, and says that its active alert is on hold meanwhile', async () => {
    await fires('ftso-commit', 8)
    cardOf('ftso-commit')
    await world.settle()
    await ann.press('Off')
    expect(ann.last().text).toContain(
      '✓ Off. The active alert is on hold: when the signal is on again',
    )
    expect(ann.labels()[0]).toEqual(['On'])
    expect(ann.labels().flat()).not.toContain('Other number…')
    expect(await signal('ftso-commit')).toMatchObject({ enabled: false })
    await ann.press('On')
    expect(await signal('ftso-commit')).toMatchObject({ enabled: true })
  })

  test('has its parameters chosen, typed and refused', async () => {
    cardOf('ftso-commit')
    await world.settle()
    await ann.press('5')
    expect(ann.labels()[2]).toEqual(['✓ 5', '10'])
    expect(await signal('ftso-commit')).toMatchObject({ parameters: { rounds: 5 } })
    await ann.press('Other number…')
    expect(ann.last().text).toContain('Send a number from 1 to 20.')
    await ann.say('21')
    expect(ann.last().text).toMatch(/^⚠️ “\u206821\u2069” is too large\. The maximum is 20\./)
    await ann.say('2.5')
    expect(ann.last().text).toMatch(/^⚠️ Send a whole number, such as 2\./)
    await ann.say('১৭')
    expect(await signal('ftso-commit')).toMatchObject({ parameters: { rounds: 17 } })
    expect(ann.last().text).toContain('Missed rounds in a row: 17')
    await ann.say('16')
    expect(ann.last().text).toContain('Missed rounds in a row: 16')
    await ann.say('17')
    await ann.press('Other number…')
    await ann.say('/cancel')
    expect(ann.last().text).toContain('Missed rounds in a row: 17')
  })

  test('understands small probabilities as people write them, and flips its switches', async () => {
    cardOf('fast-updates')
    await world.settle()
    expect(ann.labels().flat()).toEqual(expect.arrayContaining(['1 in 1 billion', 'Other number…']))
    expect(ann.last().text).not.toMatch(/\de-\d/)
    expect(ann.last().text).toContain(
      'Probability limit: 1 in 10 million (1 in 1,000 trillion – 1 in 10, default 1 in 10 million)',
    )
    // One notation on the whole screen: neither decimals, nor percentages of a probability.
    expect(ann.last().text).not.toMatch(/0\.0|1:/)
    await ann.press('1 in 1 billion')
    expect(await signal('fast-updates')).toMatchObject({ parameters: { probability: 1e-9 } })
    await ann.press('Other number…')
    expect(ann.last().text).toContain(
      'Send a probability from 1 in 1,000 trillion to 1 in 10, such as 1 in 10 million.',
    )
    await ann.say('soon')
    expect(ann.last().text).toMatch(/^⚠️ “\u2068soon\u2069” is not a probability\. Send one from/)
    await ann.say('1 in 5')
    expect(ann.last().text).toMatch(
      /^⚠️ “\u20681 in 5\u2069” is too large\. The maximum is 1 in 10\./,
    )
    await ann.say('1 in 5 million')
    expect(await signal('fast-updates')).toMatchObject({ parameters: { probability: 2e-7 } })
    expect(ann.last().text).toContain('Probability limit: 1 in 5 million')
    await ann.press('Other number…')
    await ann.say('1:10 000 000')
    expect(await signal('fast-updates')).toMatchObject({ parameters: { probability: 1e-7 } })
    const flip = ann
      .labels()
      .flat()
      .find((label) => label.startsWith('○'))
    await ann.press(flip ?? '')
    expect(await signal('fast-updates')).toMatchObject({ parameters: { warningEnabled: true } })
  })

  test('opens and closes its help', async () => {
    cardOf('ftso-commit')
    await world.settle()
    const texts = [
      'A voting round lasts 90 seconds.',
      'The client is not running or has just restarted.',
      'Check that the client is running and read its log.',
    ]
    await ann.press('Help')
    for (const text of texts) expect(ann.last().text).toContain(text)
    expect(ann.last().entities.map(({ type }) => type)).toContain('expandable_blockquote')
    await ann.press('✓ Help')
    for (const text of texts) expect(ann.last().text).not.toContain(text)
  })

  test('of a watch with a single signal leads back to the watch', async () => {
    const credits = await world.addWatch('alice', {
      label: 'Credits',
      type: 'credits-balance',
      target: {},
      settings: { limit: 500 },
    })
    await ann.say(`/watches ${credits}`)
    const data = packed('signal.card', { id: credits, signal: 'credits-threshold' })
    world.telegram.pressRaw(ann.id, ann.last().id, data)
    await world.settle()
    expect(ann.labels().at(-1)).toEqual(['‹ \u2068Credits\u2069', 'Help'])
  })

  test('that does not exist shows the watch, and a value out of bounds is refused', async () => {
    cardOf('nonsense')
    await world.settle()
    expect(ann.last().text).toContain('\u2068Node A\u2069')
    const args = { id, signal: 'ftso-commit', parameter: 'rounds' }
    for (const value of ['0', '21', '1.5', 'abc']) {
      world.telegram.pressRaw(ann.id, ann.last().id, packed('signal.set', { ...args, value }))
      await world.settle()
      expect(ann.last().text).toMatch(/^⚠️ /)
    }
    const unknown = packed('signal.set', { ...args, parameter: 'zzz', value: '1' })
    world.telegram.pressRaw(ann.id, ann.last().id, unknown)
    await world.settle()
    expect(await signal('ftso-commit')).toMatchObject({ parameters: { rounds: 2 } })
  })

  test('shows a value that was changed by another client', async () => {
    await world.as('alice', updateWatch, {
      params: { id: String(id) },
      body: { signals: [{ id: 'ftso-commit', parameters: { rounds: 9 } }] },
    })
    cardOf('ftso-commit')
    await world.settle()
    expect(ann.last().text).toContain('Missed rounds in a row: 9')
  })
})
