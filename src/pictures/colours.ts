/** Colours of a picture. */
import type { DutyResult } from '#src/watches/provider-rounds.ts'

/**
 * Colours of a drawing. `dark` and `light` are opaque; `page` is transparent, with the CSS variables
 * `--picture-…`.
 */
export type Palette = 'dark' | 'light' | 'page'

export interface Colours {
  readonly card: string
  readonly border: string
  readonly text: string
  readonly muted: string
  /** Colours of a cell, its mark and, if it has one, its edge. */
  readonly cells: Readonly<Record<DutyResult, readonly [cell: string, mark: string, edge?: string]>>
}

const DARK: Colours = {
  card: '#17212B',
  border: '#6B7A8A',
  text: '#F2F5F8',
  muted: '#A9B4C0',
  cells: {
    ok: ['#24875A', '#FFFFFF'],
    late: ['#E0A126', '#17212B'],
    early: ['#E0A126', '#17212B'],
    missing: ['#D0392F', '#FFFFFF'],
    mismatch: ['#C63A87', '#FFFFFF'],
    offence: ['#FFFFFF', '#B3261E'],
    unknown: ['none', '#8B98A5'],
  },
}

const LIGHT: Colours = {
  card: '#FFFFFF',
  border: '#7C8797',
  text: '#151A21',
  muted: '#566070',
  cells: {
    ok: ['#1B7F4F', '#FFFFFF'],
    late: ['#F2B53C', '#151A21', '#8A4B00'],
    early: ['#F2B53C', '#151A21', '#8A4B00'],
    missing: ['#C5352C', '#FFFFFF'],
    mismatch: ['#A61E6E', '#FFFFFF'],
    offence: ['#151A21', '#FFB4AB'],
    unknown: ['none', '#6B7686'],
  },
}

/** Colours as CSS variables, because pages follow the reader's theme. */
const PAGE: Colours = {
  card: 'none',
  border: 'none',
  text: 'var(--picture-text)',
  muted: 'var(--picture-muted)',
  cells: {
    ok: named('ok'),
    late: named('late'),
    early: named('late'),
    missing: named('missing'),
    mismatch: named('mismatch'),
    offence: named('offence'),
    unknown: ['none', 'var(--picture-unknown)'],
  },
}

function named(state: string): readonly [string, string, string] {
  const name = `--picture-${state}`
  return [`var(${name})`, `var(${name}-mark)`, `var(${name}-edge)`]
}

export const PALETTES: Readonly<Record<Palette, Colours>> = { dark: DARK, light: LIGHT, page: PAGE }
