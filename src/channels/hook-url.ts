import { z } from 'zod'
import type { FieldError } from '#src/kernel/errors.ts'
import type { DestinationForm } from './destination-form.ts'
import { checkWebhookUrl, type SafePost } from './safe-fetch.ts'

/** Where an incoming webhook of a chat service lives. */
export interface HookDestination {
  readonly url: string
}

/** What the URLs of a service look like. */
export interface HookService {
  readonly hosts: readonly string[]
  readonly path: RegExp
  /** The field error of any other URL. */
  readonly code: string
}

/**
 * Whether the URL is one of the service's.
 *
 * @param allowPrivate tests and sandbox: a stand-in may play the service on this machine
 */
export function isHookOf(service: HookService, text: string, allowPrivate: boolean): boolean {
  const url = URL.parse(text)
  if (url === null || checkWebhookUrl(text, allowPrivate) !== undefined) return false
  const isService = url.protocol === 'https:' && url.port === '' && isHostOf(service, url)
  return service.path.test(url.pathname) && (isService || allowPrivate)
}

/** Takes a URL and nothing else. */
export function hookForm(
  service: HookService,
  allowPrivate: boolean,
): DestinationForm<HookDestination> {
  return {
    parts: ['url'],
    required: 'url',
    check: ({ url }): readonly FieldError[] =>
      url === undefined || isHookOf(service, url, allowPrivate)
        ? []
        : [{ pointer: '/url', code: service.code }],
    make: ({ url = '' }) => ({ destination: { url }, moved: true }),
    change: (before, { url }) =>
      url === undefined || URL.parse(url)?.href === URL.parse(before.url)?.href
        ? undefined
        : { destination: { url }, moved: true },
  }
}

function isHostOf({ hosts }: HookService, { hostname }: URL): boolean {
  return hosts.includes(hostname)
}

/** What channels that post to an address speak through. */
export interface HookDeps {
  readonly post: SafePost
  readonly userAgent: string
  /** http and private addresses may be set: tests and sandbox only. */
  readonly allowPrivate: boolean
}

/** The exact body that would be posted. */
export const BodyPreview = z.object({
  body: z.string().meta({ description: 'operations:field.exactBody' }),
})
export type BodyPreview = z.output<typeof BodyPreview>
