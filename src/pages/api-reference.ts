import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { openApiDocument } from '#src/operations/openapi.ts'
import { type ApiDocs, apiDocs } from './docs-api.ts'

type Documented = Pick<App, 'publicUrl' | 'operations'>

/** Cache by service and locale; the registry does not change. */
const made = new WeakMap<App['operations'], Map<string, ApiDocs>>()

/** The API reference of a service in a locale. */
export function readApiReference(app: Documented, locale: Locale): ApiDocs {
  const { operations, publicUrl } = app
  const ofService = made.get(operations) ?? new Map<string, ApiDocs>()
  made.set(operations, ofService)
  const key = `${locale} ${publicUrl}`
  const reference = ofService.get(key) ?? apiDocs(openApiDocument(app, locale))
  ofService.set(key, reference)
  return reference
}
