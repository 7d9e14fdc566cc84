import { listChannels } from '#src/operations/rest/channels.ts'
import { listRecipients } from '#src/operations/rest/recipients.ts'
import type { ChatState, Membership } from '../../core/context.ts'
import type { WalletRecipients } from './people-view.ts'

/** All possible recipients of a link's wallet. */
export async function peopleOf(ctx: ChatState, link: Membership): Promise<WalletRecipients> {
  const [recipients, channels] = await Promise.all([
    ctx.call(listRecipients, { query: { limit: PAGE_LIMIT } }, link),
    ctx.call(listChannels, {}, link),
  ])
  return { recipients: recipients.data, channels: channels.data, hereId: link.recipientId }
}

/** More than the upper limit of a wallet's recipients. */
const PAGE_LIMIT = '250'
