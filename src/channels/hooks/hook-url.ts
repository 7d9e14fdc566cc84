import { z } from 'zod'
import type { FieldError } from '#src/kernel/errors.ts'
import type { DestinationForm } from '../destination-form.ts'
import { checkUserUrl, type SafeSend } from '../requests/safe-fetch.ts'

/** URL of an incoming webhook of a chat service. */
export interface HookDestination {
  readonly url: string
}

/** Format of a service's URLs. */
export interface HookService {
  readonly hosts: readonly string[]
  readonly path: RegExp
  /** Code of the field error for any other URL. */
  readonly code: string
}

/**
 * Whether the URL belongs to the service.
 *
 * @param allowPrivate for tests and sandbox: a stand-in may act as the service on this machine
 */
export function isHookOf(service: HookService, text: string, allowPrivate: boolean): boolean {
  const url = URL.parse(text)
  if (url === null || checkUserUrl(text, allowPrivate) !== undefined) return false
  const isService = url.protocol === 'https:' && url.port === '' && isHostOf(service, url)
  return service.path.test(url.pathname) && (isService || allowPrivate)
}

/** Form that accepts only the URL of a service. */
export function hookForm(
  service: HookService,
  allowPrivate: boolean,
): DestinationForm<HookDestination> {
  return urlForm({ code: service.code, isUrl: (url) => isHookOf(service, url, allowPrivate) })
}

/**
 * Form that accepts only a URL.
 *
 * @param options `code` of the field error; `complete` makes a URL of a shorter text that users know
 */
export function urlForm(options: {
  readonly code: string
  isUrl(text: string): boolean
  complete?(text: string): string
}): DestinationForm<HookDestination> {
  const { code, isUrl, complete = (text) => text } = options
  return {
    parts: ['url'],
    required: 'url',
    check: ({ url }): readonly FieldError[] =>
      url === undefined || isUrl(complete(url)) ? [] : [{ pointer: '/url', code }],
    make: ({ url = '' }) => ({ destination: { url: complete(url) }, isAddressChanged: true }),
    change: (before, { url: text }) => {
      const url = text === undefined ? undefined : complete(text)
      return url === undefined || URL.parse(url)?.href === URL.parse(before.url)?.href
        ? undefined
        : { destination: { url }, isAddressChanged: true }
    },
  }
}

function isHostOf({ hosts }: HookService, { hostname }: URL): boolean {
  return hosts.includes(hostname)
}

/** Dependencies of channels that post to a URL. */
export interface HookDeps {
  readonly post: SafeSend
  readonly userAgent: string
  /** Whether http and private addresses are allowed: tests and sandbox only. */
  readonly allowPrivate: boolean
}

/** Exact body that would be posted. */
export const RequestBodyPreview = z.object({
  body: z.string().meta({ description: 'operations:field.exactBody' }),
})
export type RequestBodyPreview = z.output<typeof RequestBodyPreview>
