import { z } from 'zod'

/** ntfy's format of a message published as JSON, as far as this project sends it. Lengths as published. */

const MESSAGE_BYTES_MAX = 4096

const Link = z.string().regex(/^https?:\/\/[^\s]+$/)

const Message = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  sequence_id: z
    .string()
    .regex(/^[-_A-Za-z0-9]{1,64}$/)
    .optional(),
  title: z.string().max(250),
  message: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MESSAGE_BYTES_MAX, 'would be an attachment'),
  priority: z.int().min(1).max(5),
  click: Link.optional(),
  actions: z
    .array(z.strictObject({ action: z.literal('view'), label: z.string().min(1), url: Link }))
    .max(3)
    .optional(),
})

/**
 * Checks a body.
 * @returns its topic and sequence id, or the problem in words
 */
export function checkNtfy(
  body: unknown,
): { readonly topic: string; readonly sequenceId: string | undefined } | string {
  const parsed = Message.safeParse(body)
  if (!parsed.success) return z.prettifyError(parsed.error)
  return { topic: parsed.data.topic, sequenceId: parsed.data.sequence_id }
}

/** Text of the notification. */
export function readerOfNtfy(body: unknown): string {
  const { title, message } = Message.parse(body)
  return `${title}\n${message}`
}
