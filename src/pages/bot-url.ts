import type { App } from '#src/operations/define.ts'
import { botLink } from '#src/telegram/links.ts'

/** Link to the bot, optionally with a start parameter; undefined if there is no bot. */
export function botUrl(app: Pick<App, 'botUsername'>, start?: string): string | undefined {
  const bot = app.botUsername()
  if (bot === undefined) return undefined
  return start === undefined ? `https://t.me/${bot}` : botLink(bot, start)
}
