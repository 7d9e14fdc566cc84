import type { Locale } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { Envelope, EnvelopeMessage, MessageButton } from './envelope.ts'

/** Content of a message that belongs to no alert. */
export interface PlainContent extends Pick<EnvelopeMessage, 'severity' | 'title' | 'body'> {
  readonly kind: 'summary' | 'notice'
  readonly event: string
  /** Data for programs and channels, with the sign of the message. */
  readonly data: JsonObject & { readonly glyph: string }
  /** The watch that the message is about. */
  readonly watch?: { readonly id: number; readonly label: string }
  readonly link: string
  readonly buttons: readonly (readonly MessageButton[])[]
}

/** Envelope of a message that belongs to no alert: a summary or a notice. */
export function plainEnvelope(
  { locale, timezone }: { readonly locale: Locale; readonly timezone: string },
  { deliveryId, at }: { readonly deliveryId: string; readonly at: Date },
  { kind, event, severity, title, body, data, watch, link, buttons }: PlainContent,
): Envelope {
  return {
    deliveryId,
    type: null,
    signal: null,
    group: null,
    data,
    locale,
    timezone,
    kind,
    message: {
      alertId: null,
      incidentId: null,
      watchId: watch?.id ?? null,
      watchLabel: watch?.label ?? null,
      event,
      severity,
      title,
      body,
      fields: [],
      link,
      firedAt: at.toISOString(),
      test: false,
      isRecovery: false,
      canRecover: false,
    },
    buttons,
  }
}
