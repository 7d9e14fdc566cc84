import { z } from 'zod'

/** Slack's webhook format, as far as this project sends it. Lengths as published. */

/** Whether a text has a `<`, `>` or `&` that is neither escaped nor part of a link, as a mention has. */
function hasStray(text: string): boolean {
  const bare = text.replace(/&(amp|lt|gt);/g, '').replace(/<https?:\/\/[^<>|\s]+\|[^<>|]*>/g, '')
  return /[<>&]/.test(bare)
}

const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.trim() !== '', 'must be more than 0 characters')
    .refine((value) => !hasStray(value), 'control characters that are not escaped')
const Plain = (max: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: text(max).refine((value) => !value.includes('<'), 'a link in plain text'),
    emoji: z.boolean().optional(),
  })
const Markup = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: text(max), verbatim: z.literal(true) })
const Either = (max: number) => z.union([Plain(max), Markup(max)])

const Block = z.union([
  z.strictObject({ type: z.literal('header'), text: Plain(150) }),
  z.strictObject({ type: z.literal('section'), text: Either(3000) }),
  z.strictObject({ type: z.literal('section'), fields: z.array(Either(2000)).min(1).max(10) }),
  z.strictObject({ type: z.literal('context'), elements: z.array(Either(3000)).min(1).max(10) }),
])

const Message = z.strictObject({
  text: z.string().max(40_000),
  blocks: z.array(Block).min(1).max(50),
  unfurl_links: z.boolean().optional(),
  unfurl_media: z.boolean().optional(),
})

/**
 * Checks a body.
 * @returns the problem in words; undefined when valid
 */
export function checkSlack(body: unknown): string | undefined {
  const parsed = Message.safeParse(body)
  return parsed.success ? undefined : z.prettifyError(parsed.error)
}

/** Text for a reader, without entities and links. */
export function readerOfSlack(body: unknown): string {
  return drawnBySlack(body)
    .flatMap(({ texts }) => texts)
    .join('\n')
}

/** What Slack draws of a message: its blocks, of which `fields` are in two columns. */
export function drawnBySlack(body: unknown) {
  return Message.parse(body).blocks.map((block) => {
    if ('elements' in block) return { kind: block.type, texts: block.elements.map(asRead) }
    if ('fields' in block) return { kind: 'fields', texts: block.fields.map(asRead) }
    return { kind: block.type, texts: [asRead(block.text)] }
  })
}

function asRead({ text }: { readonly text: string }): string {
  return text
    .replace(/<https?:\/\/[^<>|\s]+\|([^<>|]*)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
