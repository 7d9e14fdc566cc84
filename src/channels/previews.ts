import { z } from 'zod'
import type { ChannelKey, Envelope } from './define.ts'
import { discordBody } from './discord.ts'
import { alertMail } from './mail-content.ts'
import { slackBody } from './slack.ts'
import { alertView } from './telegram-alert.ts'
import { payload } from './webhook.ts'

/** A message in the form a channel would send it. */
interface Preview<Form> {
  readonly form: z.ZodType<Form>
  /** @param wallet who wants this told */
  readonly write: (envelope: Envelope, wallet: string) => Form
}

const Html = z.object({ html: z.string() })
const Mail = z.object({ subject: z.string(), html: z.string(), text: z.string() })
const Body = z.object({
  body: z.string().meta({ description: 'operations:field.exactBody' }),
})

/** How each channel shows a message. */
export const PREVIEWS = {
  telegram: {
    form: Html,
    write: (envelope) => ({ html: alertView(envelope).html }),
  },
  email: {
    form: Mail,
    write: (envelope, wallet) => {
      const reader = { address: 'you@example.org', wallet, unsubscribeUrl: undefined }
      const { subject, html, text } = alertMail(envelope, reader)
      return { subject, html, text }
    },
  },
  webhook: { form: Body, write: (envelope) => ({ body: payload(envelope) }) },
  discord: { form: Body, write: (envelope) => ({ body: discordBody(envelope) }) },
  slack: { form: Body, write: (envelope) => ({ body: slackBody(envelope) }) },
} satisfies { readonly [Key in ChannelKey]: Preview<unknown> }
