import type { SecretBox } from '#src/kernel/secret-box.ts'

/** The right to open an alert's page by its link: every holder may read. */
export interface AlertLink {
  readonly alertId: number
  /** Recipient whose language the page uses; null for readers without a recipient of their own. */
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
