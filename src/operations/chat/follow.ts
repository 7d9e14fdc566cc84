/** Operations of private chats that follow a data provider without a wallet. They have no route. */
import { z } from 'zod'
import { findFollowed, followProvider, stopFollowing } from '#src/alerts/followers/followers.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Address } from '#src/kernel/units.ts'
import { updateChat } from '#src/recipients/chats.ts'
import { defineChatOperation } from '../define.ts'

/** Id of a private chat; those of groups are negative. */
const PrivateChatId = z.int().positive()
const Chat = z.strictObject({ chatId: PrivateChatId })

/**
 * Follows a provider, instead of the one that the chat follows.
 *
 * @throws AppError not_found if the address is not that of a provider; rate_limited; upstream `dependency_unavailable`
 * while the chain does not answer
 */
export const follow = defineChatOperation({
  id: 'follow',
  scope: 'none',
  rate: 'follow',
  body: z.strictObject({
    chatId: PrivateChatId,
    locale: z.enum(LOCALES),
    /** An address of the provider. */
    provider: Address,
  }),
  handle: async ({ app, body: { chatId, locale, provider: asked } }) => {
    const answer = await app.lookUps.atAddress(asked)
    if (answer.kind === 'unavailable') throw new AppError('upstream', 'dependency_unavailable')
    if (answer.kind === 'account') throw new AppError('not_found', 'not_found')
    const { provider } = answer.view
    const name = answer.name ?? shortAddress(provider)
    const { instead } = await followProvider(app, { chatId, locale, provider, name })
    return { followed: { provider, name }, instead }
  },
})

/** Ends what the chat follows. */
export const unfollow = defineChatOperation({
  id: 'unfollow',
  scope: 'none',
  body: Chat,
  handle: async ({ app, body }) => ({ followed: await stopFollowing(app, body) }),
})

/** What the chat follows. */
export const getFollowed = defineChatOperation({
  id: 'getFollowed',
  scope: 'none',
  isRead: true,
  body: Chat,
  handle: async ({ app, body }) => ({ followed: await findFollowed(app, body) }),
})

/** Sets the language of the messages about what the chat follows, in a chat without a wallet. */
export const setFollowerLanguage = defineChatOperation({
  id: 'setFollowerLanguage',
  scope: 'none',
  body: z.strictObject({ chatId: PrivateChatId, locale: z.enum(LOCALES) }),
  handle: async ({ app, body }) => await updateChat(app, body),
})
