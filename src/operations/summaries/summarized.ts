/** What every summary of a call begins with. */
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '../define.ts'

/** The call, and the language of the person who confirms it. */
export interface Summarized {
  readonly app: App
  readonly caller: Caller
  readonly locale: Locale
}

/** A call about one object. */
export type SummarizedById = Summarized & { readonly params: { readonly id: number } }

/** Time zone of summaries, because the time zone of their readers is not known. */
export const ZONE = 'UTC'
