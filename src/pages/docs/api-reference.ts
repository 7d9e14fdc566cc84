import { type Documented, openApiDocument } from '#src/operations/openapi/openapi.ts'
import { onceEach } from '../once-each.ts'
import { apiDocs } from './api.ts'

/** The API reference of a service in a language. */
export const readApiReference = onceEach((app: Documented, { locale }) =>
  apiDocs(openApiDocument(app, locale)),
)
