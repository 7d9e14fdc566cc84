import { z } from 'zod'
import { confirmLinkOf, oneClickUrlOf } from '../inbox/mail.ts'
import type { WorldParts } from '../world.ts'

/** A link of the page. */
export interface Sample {
  readonly label: string
  readonly href: string
}

const WithLink = z.object({ renderedMessage: z.object({ link: z.string() }) })

/** The newest of each page that something must lead to, as far as there is one. */
export async function newestPages(world: WorldParts): Promise<readonly Sample[]> {
  const { receiver, inbox, topups } = world
  const topup = await topups.newest()
  const mails = inbox.mails.toReversed()
  const found: readonly (readonly [string, string | undefined])[] = [
    ['An alert', firstOf(receiver.deliveries.toReversed(), ({ json }) => linkIn(json))],
    ['A mailbox’s consent', firstOf(mails, confirmLinkOf)],
    ['Unsubscribing', firstOf(mails, oneClickUrlOf)],
    ['Paying a top-up', topup && topups.pageOf(topup)],
  ]
  return found.flatMap(([label, href]) => (href === undefined ? [] : [{ label, href }]))
}

function linkIn(json: unknown): string | undefined {
  return WithLink.safeParse(json).data?.renderedMessage.link
}

function firstOf<Item>(
  items: readonly Item[],
  look: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = look(item)
    if (found !== undefined) return found
  }
  return undefined
}
