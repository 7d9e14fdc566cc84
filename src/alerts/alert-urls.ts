import type { SecretBox } from '#src/kernel/secret-box.ts'

/** Content of a signed link to an alert's page. Everybody who has the link may read the page. */
export interface AlertLink {
  readonly alertId: number
  /** Recipient whose language the page uses; null for a reader who is not a recipient. */
  readonly recipientId: number | null
}

const PURPOSE = 'alert'

/** URL of an alert's page: signed, no login. */
export function alertUrl(
  deps: { readonly box: SecretBox; readonly publicUrl: string },
  link: AlertLink,
): string {
  const payload = `${link.alertId.toString(36)}.${link.recipientId?.toString(36) ?? ''}`
  return `${deps.publicUrl}/a/${deps.box.signLink(PURPOSE, payload)}`
}

/** Verifies a link's code; undefined if this service did not sign it. */
export function readAlertLink(box: SecretBox, code: string): AlertLink | undefined {
  const [alert, recipient] = box.readLink(PURPOSE, code)?.split('.') ?? []
  if (alert === undefined) return undefined
  const recipientId = recipient ? Number.parseInt(recipient, 36) : null
  return { alertId: Number.parseInt(alert, 36), recipientId }
}
