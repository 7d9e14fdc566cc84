import { Api, GrammyError } from 'grammy'
import { expect, test } from 'vitest'
import { paceCalls } from './paced.ts'

test('a flood limit of centuries holds a chat for an hour', async () => {
  const api = new Api('1:token')
  api.config.use(async () => ({
    ok: false,
    error_code: 429,
    description: 'Too Many Requests',
    parameters: { retry_after: 9_999_999_999 },
  }))
  const held: [number, number][] = []
  paceCalls(api, {
    turn: async () => undefined,
    flooded: async (chatId, ms) => void held.push([chatId, ms]),
  })
  await expect(api.sendMessage(7, 'hello')).rejects.toThrow(GrammyError)
  expect(held).toEqual([[7, 3_600_000]])
})
