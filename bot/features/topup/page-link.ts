import type { Topup } from '#src/billing/topups/model.ts'
import type { Reader } from '../../views/view.ts'

/** The page of a top-up in the language and time zone of the chat. */
export function topupPageUrl({ t, timezone }: Reader, { page }: Pick<Topup, 'page'>): string {
  return `${page}?${new URLSearchParams({ lang: t.locale, tz: timezone })}`
}
