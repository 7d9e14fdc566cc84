import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Button, labelWidth, layout } from '#src/telegram/buttons.ts'
import { labelWithName, screen } from './view.ts'

const button = (label: string): Button => ({ label, data: '1:home' })
const rowsOf = (...labels: readonly string[]) =>
  layout([labels.map(button)]).map((row) => row.map(({ label }) => label))

describe('rows of buttons', () => {
  test('stay as requested while their labels fit', () => {
    expect(rowsOf('Pause', 'Mute', 'Test')).toEqual([['Pause', 'Mute', 'Test']])
    expect(rowsOf('x'.repeat(16), 'y'.repeat(16))).toEqual([['x'.repeat(16), 'y'.repeat(16)]])
  })

  test('are split in order when a label is too long', () => {
    expect(rowsOf('x'.repeat(11), 'b', 'c')).toEqual([['x'.repeat(11), 'b'], ['c']])
    expect(rowsOf('a', 'b', 'x'.repeat(17))).toEqual([['a', 'b'], ['x'.repeat(17)]])
    expect(rowsOf('x'.repeat(17), 'b', 'c')).toEqual([['x'.repeat(17)], ['b', 'c']])
  })

  test('are measured without marks of no width', () => {
    const label = `✓ \u2068${'x'.repeat(7)}\u064b\u2069`
    expect(rowsOf(label, 'b', 'c')).toEqual([[label, 'b', 'c']])
  })

  test('shorten a label that is too long for a row of its own', () => {
    expect(rowsOf('x'.repeat(24))).toEqual([['x'.repeat(24)]])
    expect(rowsOf('x'.repeat(25))).toEqual([[`${'x'.repeat(23)}…`]])
    expect(rowsOf('👩‍👩‍👧‍👦'.repeat(10))).toEqual([['👩‍👩‍👧‍👦'.repeat(3).concat('…')]])
  })

  test('keep every button, and no row is wider than allowed', () => {
    const labels = fc.array(fc.string({ minLength: 1, maxLength: 24 }), { maxLength: 6 })
    fc.assert(
      fc.property(labels, (drawn) => {
        const rows = rowsOf(...drawn)
        expect(rows.flat()).toEqual(drawn)
        for (const row of rows) {
          expect(row.length).toBeLessThanOrEqual(3)
          if (row.length === 1) continue
          const budget = row.length === 2 ? 16 : 10
          for (const label of row) expect(labelWidth(label)).toBeLessThanOrEqual(budget)
        }
      }),
    )
  })
})

describe('a label with a name', () => {
  const write = (name: string) => `Delete ${name}`

  test('is not cut to save fewer than three characters, and has no ellipsis after an ellipsis', () => {
    expect(labelWithName('ops@example.org', (name) => `✓ ${name}`, 2)).toBe('✓ ops@example.org')
    expect(labelWithName('FLR · 0xf39F…2266', (name) => `Unmute it ${name}`)).toBe(
      'Unmute it FLR · 0xf39F…',
    )
    const letter = fc.constantFrom('a', 'W', '…', ' ', '·')
    fc.assert(
      fc.property(
        fc.string({ unit: letter, minLength: 1, maxLength: 40 }).filter((s) => !s.includes('……')),
        fc.constantFrom(1 as const, 2 as const),
        (name, inRow) => {
          const label = labelWithName(name, (text) => text, inRow)
          expect(label).not.toContain('……')
          if (label !== name) expect(labelWidth(name) - labelWidth(label)).toBeGreaterThanOrEqual(3)
        },
      ),
    )
  })

  test('keeps a short name whole and cuts a long one', () => {
    expect(labelWithName('Treasury', write)).toBe('Delete Treasury')
    expect(labelWithName('x'.repeat(17), write)).toBe(`Delete ${'x'.repeat(17)}`)
    expect(labelWithName('x'.repeat(18), write)).toBe(`Delete ${'x'.repeat(16)}…`)
    expect(labelWithName('x'.repeat(18), (name) => name)).toBe('x'.repeat(18))
    expect(labelWithName('x'.repeat(21), (name) => name)).toBe(`${'x'.repeat(17)}…`)
  })

  test('never cuts a character in half, and fits', () => {
    const family = '👩‍👩‍👧‍👦'
    expect(labelWithName(family.repeat(4), write)).toBe(`Delete ${family.repeat(2)}…`)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (name) => {
        const label = labelWithName(name, write)
        expect(labelWidth(label)).toBeLessThanOrEqual(24)
        expect(label.isWellFormed()).toBe(true)
      }),
    )
  })

  test('contains no direction marks of the name', () => {
    expect(labelWithName('a\u202eb\u2067c', write)).toBe('Delete abc')
  })
})

test('a screen leaves out undefined lines', () => {
  expect(screen(['a', undefined, '', 'b'])).toEqual({ html: 'a\n\nb', rows: [] })
})
