import { z } from 'zod'
import type { ControlPanel } from '../control-panel.ts'
import { confirmLinkOf, type Mail, oneClickUrlOf } from '../inbox/mail.ts'
import type { WorldParts } from '../world/parts.ts'

/** A link of the page. */
export interface Link {
  readonly label: string
  readonly href: string
}

/** A page of the service that needs data. */
export interface SamplePage {
  readonly id: string
  readonly label: string
  /** Link to the newest page of this kind; undefined if there is none. */
  find(): Promise<string | undefined>
  /** Creates the data for such a page, as Alice or Ann. */
  make(): Promise<void>
}

const CREDITS = 10_000
/** Time for blocks, an observation and a delivery. */
const PATIENCE_MS = 20_000
const FLR_500 = 500n * 10n ** 18n
const WithLink = z.object({ renderedMessage: z.object({ link: z.string() }) })

/** Every page of the service that is only reachable from a message, a chat or a top-up. */
export function createSamplePages(world: WorldParts, panel: ControlPanel): readonly SamplePage[] {
  return [
    connectPage(world),
    {
      id: 'pay',
      label: 'Paying a top-up',
      find: () => newestTopup(world),
      make: () => panel.createTopUp('WFLR', CREDITS),
    },
    {
      id: 'alert',
      label: 'An alert',
      find: async () =>
        firstOf(world.receiver.deliveries.toReversed(), ({ json }) => alertIn(world, json)),
      make: async () => {
        await panel.setUpMailAndWebhook()
        await panel.watchBalance()
        const { alice, bob } = world.devnet.people
        await world.devnet.transfer(alice.account.address, bob.account.address, FLR_500)
        await world.receiver.waitFor(({ json }) => alertIn(world, json) !== undefined, PATIENCE_MS)
      },
    },
    {
      id: 'confirm',
      label: 'A mailbox’s consent',
      find: async () => newestMail(world, confirmLinkOf),
      make: async () => {
        await askMailbox(world, panel)
      },
    },
    {
      id: 'unsubscribe',
      label: 'Unsubscribing',
      find: async () => newestMail(world, oneClickUrlOf),
      make: async () => {
        const link = newestMail(world, confirmLinkOf) ?? (await askMailbox(world, panel))
        // After consent the first mail is sent, which has an unsubscribe link.
        await fetch(link, { method: 'POST', body: new URLSearchParams({ answer: 'yes' }) })
        await waitForMail(world, oneClickUrlOf)
      },
    },
  ]
}

/** The page for connecting a wallet to Ann’s chat. */
function connectPage({ service, telegram, telegramAccounts }: WorldParts): SamplePage {
  const ann = telegramAccounts.people.get('ann')
  const find = () =>
    firstOf(ann === undefined ? [] : telegram.messages(ann.id).toReversed(), ({ keyboard }) =>
      keyboard
        .flat()
        .map(({ copy_text }) => copy_text?.text)
        .find((text) => text?.startsWith(`${service.publicUrl}/connect/`)),
    )
  return {
    id: 'connect',
    label: 'Connecting a wallet',
    find: async () => find(),
    make: async () => {
      if (ann !== undefined) telegram.send(ann.id, '/connect')
      await telegram.waitFor(find)
    },
  }
}

async function newestTopup({ topups }: WorldParts): Promise<string | undefined> {
  const topup = await topups.newest()
  return topup && topups.pageOf(topup)
}

/** Asks Alice’s mailbox for consent. */
async function askMailbox(world: WorldParts, panel: ControlPanel): Promise<string> {
  await panel.setUpMailAndWebhook()
  return await waitForMail(world, confirmLinkOf)
}

type LinkOf = (mail: Mail) => string | undefined

function newestMail({ inbox }: WorldParts, linkOf: LinkOf): string | undefined {
  return firstOf(inbox.mails.toReversed(), linkOf)
}

/** The link of the first mail with one, received before or later. */
async function waitForMail({ inbox }: WorldParts, linkOf: LinkOf): Promise<string> {
  const mail = await inbox.waitFor((received) => linkOf(received) !== undefined, PATIENCE_MS)
  const link = linkOf(mail)
  if (link === undefined) throw new Error('the mail has no link')
  return link
}

/** The link to the alert’s page in a webhook’s body; undefined for a test, whose link leads to another page. */
function alertIn({ service }: WorldParts, json: unknown): string | undefined {
  const link = WithLink.safeParse(json).data?.renderedMessage.link
  return link?.startsWith(`${service.publicUrl}/a/`) ? link : undefined
}

function firstOf<Item>(
  items: readonly Item[],
  look: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const link = look(item)
    if (link !== undefined) return link
  }
  return undefined
}
