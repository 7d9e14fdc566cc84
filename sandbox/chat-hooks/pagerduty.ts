import { z } from 'zod'

/** PagerDuty's Events API v2, as far as this project uses it. Lengths as published. */

const EVENT_BYTES_MAX = 512 * 1024

const Link = z.string().regex(/^https?:\/\/[^\s]+$/)
const about = {
  routing_key: z.string().length(32),
  dedup_key: z.string().min(1).max(255),
}

const Event = z.discriminatedUnion('event_action', [
  z.strictObject({
    ...about,
    event_action: z.literal('trigger'),
    client: z.string().optional(),
    client_url: Link.optional(),
    links: z.array(z.strictObject({ href: Link, text: z.string().min(1) })),
    payload: z.strictObject({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
      component: z.string().optional(),
      group: z.string().optional(),
      class: z.string().optional(),
      custom_details: z.record(z.string(), z.string()),
    }),
  }),
  z.strictObject({ ...about, event_action: z.literal('acknowledge') }),
  z.strictObject({ ...about, event_action: z.literal('resolve') }),
])
export type PagerEvent = z.output<typeof Event>

/**
 * Checks a body.
 * @returns the event, or the problem in words
 */
export function checkPagerDuty(body: unknown): PagerEvent | string {
  const parsed = Event.safeParse(body)
  if (!parsed.success) return z.prettifyError(parsed.error)
  return Buffer.byteLength(JSON.stringify(body)) > EVENT_BYTES_MAX
    ? 'larger than 512 KB'
    : parsed.data
}

/** Text of an alert; empty for the events that change one. */
export function readerOfPagerDuty(event: PagerEvent): string {
  if (event.event_action !== 'trigger') return ''
  const { summary, custom_details: details } = event.payload
  const { text = '', ...values } = details
  return [summary, text, ...Object.entries(values).map((entry) => entry.join(': '))].join('\n')
}
