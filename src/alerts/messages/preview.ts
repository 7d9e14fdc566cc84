import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Envelope, Message } from '#src/channels/envelope.ts'
import { CHANNEL_KEYS, REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { type Address, Id, JsonObject } from '#src/kernel/units.ts'
import { usualSeverity } from '#src/watches/evaluate/usual-severity.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import { RenderedText } from '../model.ts'
import { type Reader, renderMessage } from './render.ts'

/** Maximum length of the data of a preview, as JSON, in UTF-16 code units. */
const DATA_LENGTH_MAX = 20_000

/** Body of `POST /message-preview`. */
export const PreviewRequest = z
  .strictObject({
    event: z.enum([...EVENTS]),
    locale: z.enum(LOCALES).optional(),
    channel: z.enum(CHANNEL_KEYS).optional(),
    severity: z.enum(SEVERITIES).optional(),
    data: JsonObject.check(({ value, issues }) => {
      const { length: number } = JSON.stringify(value)
      if (number <= DATA_LENGTH_MAX) return
      const params = { code: 'too_long', detail: 'too_long_text', maximum: DATA_LENGTH_MAX, number }
      issues.push({ code: 'custom', input: value, params })
    }).optional(),
    watchId: Id.optional(),
  })
  .meta({ id: 'PreviewRequest' })
export type PreviewRequest = z.output<typeof PreviewRequest>

/** Schema of a message in the format of each channel. */
const FORMS = Object.fromEntries(
  CHANNEL_KEYS.map((key) => [key, CHANNELS[key].preview.form.optional()]),
) as { readonly [Key in ChannelKey]: z.ZodOptional<(typeof CHANNELS)[Key]['preview']['form']> }

/** A message in the format of each channel, or only in that of `channel`. */
export const Preview = z
  .object({
    rendered: RenderedText,
    renderedMessage: JsonObject,
    ...FORMS,
  })
  .meta({ id: 'Preview' })
export type Preview = z.output<typeof Preview>

/**
 * Renders a sample message of an event from the event's example, with the given data merged in.
 *
 * @throws AppError invalid `validation_failed` at `/data` when the event cannot be rendered with the data
 */
export function previewMessage(request: PreviewRequest, options: PreviewOptions): Preview {
  try {
    return writePreview(request, options)
  } catch (error) {
    // The example alone can be rendered, so what cannot be is the given data.
    if (request.data === undefined) throw error
    const errors = [{ pointer: '/data', code: 'event_data' }]
    throw new AppError('invalid', 'validation_failed', { errors }, { cause: error })
  }
}

interface PreviewOptions {
  readonly reader: Reader
  readonly wallet: Address
  readonly watch: { readonly id: number; readonly label: string } | undefined
  readonly publicUrl: string
  readonly now: Date
}

function writePreview(request: PreviewRequest, options: PreviewOptions): Preview {
  const source = findEventSource(request.event)
  if (source === undefined) throw new Error(`no signal emits ${request.event}`)
  const data = { ...source.signal.examples[request.event], ...request.data }
  const { reader, watch, publicUrl, now } = options
  const message = renderMessage(
    {
      alertId: null,
      incidentId: null,
      watchId: watch?.id ?? null,
      watchLabel: watch?.label ?? source.type,
      event: request.event,
      severity: request.severity ?? usualSeverity(request.event, data),
      data,
      firedAt: now,
      link: `${publicUrl}/`,
      test: true,
    },
    reader,
  )
  const { type, signal } = source
  const { locale, timezone } = reader
  const place = { type, signal: signal.id, group: signal.group, data, locale, timezone }
  const envelope: Envelope = { deliveryId: randomUUID(), ...place, message }
  const wanted = CHANNEL_KEYS.filter((channel) => (request.channel ?? channel) === channel)
  return {
    rendered: { locale, title: message.title, body: message.body },
    renderedMessage: JSON.parse(JSON.stringify(Message.parse(message))),
    ...Object.fromEntries(
      wanted.map((key) => [key, CHANNELS[key].preview.write(envelope, options.wallet)]),
    ),
  }
}
