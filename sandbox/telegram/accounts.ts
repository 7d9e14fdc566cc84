import type { TelegramApi } from '../telegram-api.ts'
import type { GroupChat, PrivateChat } from './model.ts'

/** The initial people and groups of a sandbox. */
export interface TelegramAccounts {
  /** Private chats by username: `ann`, `ben`, `chloe`, `devi`, `bithi`, `chen`, `salma`. */
  readonly people: ReadonlyMap<string, PrivateChat>
  readonly nodeCrew: GroupChat
  readonly opsForum: GroupChat
}

const PEOPLE = [
  { username: 'ann', firstName: 'Ann', languageCode: 'en' },
  { username: 'ben', firstName: 'Ben', languageCode: 'de' },
  { username: 'chloe', firstName: 'Chloé', languageCode: 'fr' },
  { username: 'devi', firstName: 'Devi', languageCode: 'hi' },
  { username: 'bithi', firstName: 'Bithi', languageCode: 'bn' },
  { username: 'chen', firstName: '陈', languageCode: 'zh-hans' },
  { username: 'salma', firstName: 'سلمى', languageCode: 'ar' },
] as const

/**
 * Adds one person per language, and two groups without the bot: *Node crew*, a basic group owned by Ann,
 * and *Ops forum*, with topics, owned by Ben.
 */
export function addTelegramAccounts(api: TelegramApi): TelegramAccounts {
  const people = new Map(PEOPLE.map((person) => [person.username as string, api.person(person)]))
  const idOf = (username: string): number => {
    const chat = people.get(username)
    if (!chat) throw new Error(`nobody is called ${username}`)
    return chat.id
  }
  const nodeCrew = api.group({
    title: 'Node crew',
    admins: ['ann', 'ben'].map(idOf),
    members: ['chloe', 'chen'].map(idOf),
    bot: 'left',
  })
  const opsForum = api.group({
    title: 'Ops forum',
    admins: [idOf('ben')],
    members: ['ann', 'devi', 'bithi', 'salma'].map(idOf),
    isForum: true,
    bot: 'left',
  })
  api.topic(opsForum.id, 'Alerts')
  api.topic(opsForum.id, 'Chat')
  return { people, nodeCrew, opsForum }
}
