import type { SecretBox } from '#src/kernel/secret-box.ts'

/** Who may open an alert's page by its link: everybody who holds it, to read. */
export interface AlertLink {
  readonly alertId: number
  /** Whose language the page has; null for readers without a recipient of their own. */
  readonly recipientId: number | null
}

const PURPOSE = 'alert'

/** The address of an alert's page: signed, no login. */
export function alertUrl(
  deps: { readonly box: SecretBox; readonly publicUrl: string },
  link: AlertLink,
): string {
  const payload = `${link.alertId.toString(36)}.${link.recipientId?.toString(36) ?? ''}`
  return `${deps.publicUrl}/a/${deps.box.signLink(PURPOSE, payload)}`
}

/** What a link's code stands for; undefined for anything we did not sign. */
export function readAlertLink(box: SecretBox, code: string): AlertLink | undefined {
  const [alert, recipient] = box.readLink(PURPOSE, code)?.split('.') ?? []
  if (alert === undefined) return undefined
  const recipientId = recipient ? Number.parseInt(recipient, 36) : null
  return { alertId: Number.parseInt(alert, 36), recipientId }
}
