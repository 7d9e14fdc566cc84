import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import type { World } from './harness.ts'
import type { Client } from './people.ts'

/** Opens the link of the newest confirmation mail, presses its button and receives the test mail. */
export async function confirmMailbox(world: World): Promise<void> {
  await world.sendConfirmations()
  const mail = world.inbox.mails.at(-1)
  const link = mail && confirmLinkOf(mail)
  if (link === undefined) throw new Error('no confirmation mail has arrived')
  const { pathname } = new URL(link)
  const answer = await world.server.inject({
    method: 'POST',
    url: pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'answer=yes',
  })
  if (answer.statusCode >= 400) throw new Error(`confirming answered ${answer.statusCode}`)
  await world.deliver()
}

/** Links a new person's private chat to the client's wallet. */
export async function linkChat(world: World, client: Client, languageCode = 'en') {
  const { body } = await client.request('POST', '/recipients/telegram-link', {})
  const person = world.telegram.person({ firstName: 'Ann', languageCode })
  const { telegram } = world
  const code = new URL(body.url).searchParams.get('start')
  telegram.send(person.id, `/start ${code}`)
  const card = await telegram.waitFor(() => telegram.lastMessage(person.id))
  telegram.press(person.id, card.id, 'Link this chat')
  await telegram.waitFor(() => telegram.lastMessage(person.id)?.text !== card.text)
  return { chat: person.id, person }
}
