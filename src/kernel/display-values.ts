import type { Address, Hash } from './units.ts'

/** Severity of a firing, in rising order. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Whether `severity` is at least as severe as `least`. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}

/** The highest of these severities; undefined if there is none. */
export function worstSeverity(severities: readonly (Severity | null)[]): Severity | undefined {
  return SEVERITIES.findLast((severity) => severities.includes(severity))
}

/** The severity one step below; info is the lowest. */
export function lowerSeverity(severity: Severity): Severity {
  return severity === 'critical' ? 'warning' : 'info'
}

/** The most severe item; the first of equals. */
export function mostSevere<One extends { readonly severity: Severity }>(
  items: readonly One[],
): One | undefined {
  const worst = worstSeverity(items.map(({ severity }) => severity))
  return items.find(({ severity }) => severity === worst)
}

/**
 * One value of an alert before formatting: its kind and raw value. The renderer turns it into text by
 * locale and time zone.
 */
export type DisplayValue =
  /**
   * An amount in the smallest unit, rounded to at most 4 decimals. `signed` shows a plus sign too. `rounded: 'whole'`
   * rounds amounts of at least 1 to two decimals; `'none'` shows every digit; a number shows that many decimals.
   */
  | {
      readonly kind: 'amount'
      readonly units: bigint
      readonly decimals: number
      readonly symbol: string
      readonly signed?: boolean
      readonly rounded?: 'whole' | 'none' | number
    }
  /** An amount in whole units that a person typed, as decimal text. Shows every digit. */
  | { readonly kind: 'decimal'; readonly value: string; readonly symbol: string }
  | { readonly kind: 'price'; readonly value: string; readonly symbol: string }
  /** A ratio: 0.05 is 5 %. `signed` shows a plus sign too. */
  | { readonly kind: 'percent'; readonly value: number; readonly signed?: boolean }
  /** A probability, 0 to 1. */
  | { readonly kind: 'chance'; readonly value: number }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'transaction'; readonly hash: Hash }
  | { readonly kind: 'block'; readonly number: number }
  /** A round, epoch or id, printed without grouping. */
  | { readonly kind: 'identifier'; readonly value: string | number }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'instant'; readonly at: Date }
  | { readonly kind: 'duration'; readonly seconds: number }
  /** A counted noun; `unit` is a key of units.json. `usdMicros`: its price, in millionths of a dollar. */
  | {
      readonly kind: 'counted'
      readonly unit: string
      readonly count: number
      readonly usdMicros?: number
    }
  /** A part of a number of things, such as 96 of 97 providers. */
  | { readonly kind: 'share'; readonly part: number; readonly of: number }
  /** An amount in the smallest unit that is only about right: "about" and two significant digits. */
  | {
      readonly kind: 'estimate'
      readonly units: bigint
      readonly decimals: number
      readonly symbol: string
    }
  /** A fixed word; `key` is a full text key. */
  | { readonly kind: 'term'; readonly key: string }
  /** User input, or a name from outside. */
  | { readonly kind: 'name'; readonly text: string }

export type DisplayValues = Readonly<Record<string, DisplayValue>>

/** Values of an alert for its title and body, and the names of those shown as fields, in order. */
export interface Presentation {
  readonly facts: DisplayValues
  /** Names of the values shown as fields; labels are `messages:field.<name>`. */
  readonly fields: readonly string[]
  /**
   * Chooses among several texts of an event: `messages:<event>.<form>.title`; if omitted, `<event>.title`.
   */
  readonly form?: string
  /** Value for the plural forms of title and body. */
  readonly count?: number
  /** What to do about a special cause, after the body: `messages:advice.<name>`. */
  readonly advice?: string
  /** Whether the cause is probably the network, which the title then says. */
  readonly isNetworkWide?: boolean
}
