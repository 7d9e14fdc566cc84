import type { Address, Hash } from './units.ts'

/** How bad a firing is. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Whether `severity` is at least as bad as `least`. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}

/**
 * One value of an alert before it is written for a reader: what it is, not how it looks. The renderer
 * turns it into text by locale and time zone.
 */
export type DisplayValue =
  /** An amount in the smallest unit. `signed` shows a plus sign too. */
  | {
      readonly kind: 'amount'
      readonly units: bigint
      readonly decimals: number
      readonly symbol: string
      readonly signed?: boolean
    }
  /** An amount in whole units, as decimal text. */
  | { readonly kind: 'decimal'; readonly value: string; readonly symbol: string }
  | { readonly kind: 'price'; readonly value: string; readonly symbol: string }
  /** A share: 0.05 is 5 %. `signed` shows a plus sign too. */
  | { readonly kind: 'percent'; readonly value: number; readonly signed?: boolean }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'transaction'; readonly hash: Hash }
  | { readonly kind: 'block'; readonly number: number }
  /** A round, epoch or id: printed bare. */
  | { readonly kind: 'identifier'; readonly value: string | number }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'instant'; readonly at: Date }
  | { readonly kind: 'duration'; readonly seconds: number }
  /** A counted noun, key in units.json. */
  | { readonly kind: 'counted'; readonly unit: string; readonly count: number }
  /** A fixed word, full text key. */
  | { readonly kind: 'term'; readonly key: string }
  /** Text that somebody typed, or a name. */
  | { readonly kind: 'name'; readonly text: string }

export type DisplayValues = Readonly<Record<string, DisplayValue>>

/** What an alert shows: values for its title and body, and which of them are fields, in order. */
export interface Presentation {
  readonly facts: DisplayValues
  /** Names of facts shown as fields; labels are `messages:field.<name>`. */
  readonly fields: readonly string[]
  /** Value for the plural forms of title and body. */
  readonly count?: number
}
