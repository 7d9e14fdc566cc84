import type { Translate } from '#src/i18n/translate.ts'
import type { Documented } from '#src/operations/openapi/openapi.ts'

/**
 * A function that makes once for each service and language what does not change while the service runs.
 *
 * @param make its errors are not kept
 */
export function onceEach<Service extends Documented, Value>(
  make: (app: Service, t: Translate) => Value,
): (app: Service, t: Translate) => Value {
  const made = new WeakMap<Service, Map<string, { readonly value: Value }>>()
  return (app, t) => {
    const ofService = made.get(app) ?? new Map<string, { readonly value: Value }>()
    made.set(app, ofService)
    const known = ofService.get(t.locale) ?? { value: make(app, t) }
    ofService.set(t.locale, known)
    return known.value
  }
}
