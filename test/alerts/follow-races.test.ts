import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFollowed, followProvider, stopFollowing } from '#src/alerts/followers/followers.ts'
import { followersWallet } from '#src/kernel/followers.ts'
import { Address } from '#src/kernel/units.ts'
import { openRoom, type Room } from '../recipients/room.ts'
import { runs } from '../support/runs.ts'

/** Chats that follow and stop at the same moment. */

let room: Room
let chatId = 9000
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const PROVIDERS = [1, 2, 3].map((digit) => Address.parse(`0x${String(digit).repeat(40)}`))

const follow = (id: number, provider: Address) =>
  followProvider(room.deps, { chatId: id, locale: 'en', provider, name: 'Alpha' })

/** Followers, watches and watches of the target, of each provider. */
async function counts(): Promise<readonly (readonly number[])[]> {
  return await Promise.all(
    PROVIDERS.map(async (provider) => {
      const wallet = followersWallet(provider)
      const [row] = await room.db.execute<Record<'followers' | 'watches' | 'counted', number>>(sql`
        select (select count(*)::int from recipients where wallet = ${wallet}) as followers,
          (select count(*)::int from watches where wallet = ${wallet}) as watches,
          coalesce((select sum(watch_count)::int from targets
            where target ->> 'provider' = ${provider}), 0) as counted`)
      return [row?.followers ?? 0, row?.watches ?? 0, row?.counted ?? 0]
    }),
  )
}

test('two presses at once follow one provider, with one watch', async () => {
  const [first, second] = PROVIDERS
  if (first === undefined || second === undefined) throw new Error('there are no providers')
  for (let round = 0; round < runs(20); round += 1) {
    chatId += 1
    await Promise.all([follow(chatId, first), follow(chatId, first)])
    expect(await counts()).toEqual([
      [1, 1, 1],
      [0, 0, 0],
      [0, 0, 0],
    ])
    await stopFollowing(room.deps, { chatId })
    await Promise.all([follow(chatId, first), follow(chatId, second)])
    const followed = await findFollowed(room.deps, { chatId })
    const expected = [first, second].map((provider) =>
      followed?.provider === provider ? [1, 1, 1] : [0, 0, 0],
    )
    expect((await counts()).slice(0, 2)).toEqual(expected)
    await stopFollowing(room.deps, { chatId })
  }
})

const CHATS = 4

test('whatever chats do at once, each follows one provider at most, and each followed provider has one watch', async () => {
  const step = fc.record({
    chat: fc.integer({ min: 0, max: CHATS - 1 }),
    provider: fc.option(fc.constantFrom(...PROVIDERS), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 })), async (rounds) => {
      chatId += CHATS
      const ids = Array.from({ length: CHATS }, (_, chat) => chatId + chat)
      for (const round of rounds) {
        await Promise.all(
          round.map(({ chat, provider }) =>
            provider === undefined
              ? stopFollowing(room.deps, { chatId: chatId + chat })
              : follow(chatId + chat, provider),
          ),
        )
        const followed = await Promise.all(ids.map((id) => findFollowed(room.deps, { chatId: id })))
        const expected = PROVIDERS.map((provider) => {
          const followers = followed.filter((one) => one?.provider === provider).length
          const watches = followers > 0 ? 1 : 0
          return [followers, watches, watches]
        })
        expect(await counts()).toEqual(expected)
      }
      for (const id of ids) await stopFollowing(room.deps, { chatId: id })
    }),
    { numRuns: runs(15) },
  )
})
