import { z } from 'zod'

/** Discord's webhook format, as far as this project sends it. Lengths as published. */

const filled = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== '', 'This field is required')
const Link = z.string().regex(/^https?:\/\/[^\s]+$/)

const Embed = z.strictObject({
  title: filled(256).optional(),
  url: Link.optional(),
  description: z.string().max(4096).optional(),
  color: z.int().min(0).max(0xffffff).optional(),
  timestamp: z.iso.datetime().optional(),
  footer: z.strictObject({ text: filled(2048) }).optional(),
  fields: z
    .array(
      z.strictObject({ name: filled(256), value: filled(1024), inline: z.boolean().optional() }),
    )
    .max(25)
    .optional(),
})

const Message = z.strictObject({
  content: z.string().max(2000).optional(),
  flags: z.literal(4096).optional(),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }),
  embeds: z.array(Embed).max(10),
})
type Message = z.output<typeof Message>

const TOGETHER_MAX = 6000

/**
 * Checks a body.
 * @returns the problem in words; undefined when valid
 */
export function checkDiscord(body: unknown, method: string): string | undefined {
  const parsed = Message.safeParse(body)
  if (!parsed.success) return z.prettifyError(parsed.error)
  if (parsed.data.allowed_mentions.parse.length > 0) return 'it may mention somebody'
  if (method === 'PATCH' && parsed.data.flags !== undefined) return 'flags cannot be changed'
  const length = textsOf(parsed.data).join('').length
  if (length > TOGETHER_MAX) return `${length} characters in all embeds`
  if (textsOf(parsed.data).every((text) => text.trim() === ''))
    return 'Cannot send an empty message'
  return undefined
}

/** Text for a reader, without escapes and links. */
export function readerOfDiscord(body: unknown): string {
  return withoutMarkup(textsOf(Message.parse(body)).join('\n'))
}

/** What Discord draws of a message: its text, and its embeds with their colour bars. */
export function drawnByDiscord(body: unknown) {
  const { content = '', embeds } = Message.parse(body)
  return {
    content: withoutMarkup(content),
    embeds: embeds.map(({ title = '', description = '', color, fields = [], footer }) => ({
      color: color === undefined ? undefined : `#${color.toString(16).padStart(6, '0')}`,
      title: withoutMarkup(title),
      description: withoutMarkup(description),
      fields: fields.map(({ name, value, inline = false }) => ({
        name: withoutMarkup(name),
        value: withoutMarkup(value),
        isInline: inline,
      })),
      footer: footer?.text ?? '',
    })),
  }
}

function withoutMarkup(text: string): string {
  return text
    .replace(/(?<!\\)\[((?:\\.|[^\]\\])*)\]\(<?[^)>]*>?\)/g, '$1')
    .replace(/\\([^0-9A-Za-z\s])/g, '$1')
}

function textsOf({ content = '', embeds }: Message): string[] {
  return [
    content,
    ...embeds.flatMap(({ title = '', description = '', fields = [], footer }) => [
      title,
      description,
      ...fields.flatMap(({ name, value }) => [name, value]),
      footer?.text ?? '',
    ]),
  ]
}
