import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { type Documented, openApiDocument } from '#src/operations/openapi.ts'
import { type ApiDocs, apiDocs } from './docs-api.ts'

/** Cache by service and locale; the registry does not change. */
const made = new WeakMap<App['operations'], Map<string, ApiDocs>>()

/** The API reference of a service in a locale. */
export function readApiReference(app: Documented, locale: Locale): ApiDocs {
  const { operations, publicUrl, supportUrl } = app
  const ofService = made.get(operations) ?? new Map<string, ApiDocs>()
  made.set(operations, ofService)
  const key = `${locale} ${publicUrl} ${supportUrl}`
  const reference = ofService.get(key) ?? apiDocs(openApiDocument(app, locale))
  ofService.set(key, reference)
  return reference
}
