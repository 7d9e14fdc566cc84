import { AppError } from '#src/kernel/errors.ts'
import type { ChatState, Membership } from './context.ts'

/**
 * Runs a call for the chat's wallets one after another, until one of them has what is asked for.
 *
 * @param run throws AppError not_found for a wallet that does not have it
 * @param links wallets to ask; by default all of the chat, the selected one first
 * @throws AppError not_found if none has it; every other error of `run`
 */
export async function firstLink<Result>(
  { links: all }: Pick<ChatState, 'links'>,
  run: (link: Membership) => Promise<Result>,
  links: readonly Membership[] = all,
): Promise<Result> {
  for (const link of links) {
    try {
      return await run(link)
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    }
  }
  throw new AppError('not_found', 'not_found')
}
