import type { z } from 'zod'
import type { DevPerson } from '#sandbox/devnet/accounts.ts'
import { ChallengeRequest, type IssuedToken } from '#src/auth/model.ts'
import { createChallenge, exchangeToken, type SignInDeps } from '#src/auth/service.ts'

/** Dependencies of the verbs of signing in. */
export type Deps = SignInDeps & { readonly publicUrl: string }

/** A challenge for the wallet and its owner's signature. */
export async function signedChallenge(
  deps: Deps,
  owner: DevPerson,
  request: Partial<z.input<typeof ChallengeRequest>> = {},
): Promise<{ readonly message: string; readonly signature: string }> {
  const input = ChallengeRequest.decode({ wallet: owner.account.address, ...request })
  const { message } = await createChallenge(deps, input)
  return { message, signature: await owner.account.signMessage({ message }) }
}

/** A token of the person's wallet. */
export async function signIn(
  deps: Deps,
  owner: DevPerson,
  request: Partial<z.input<typeof ChallengeRequest>> = {},
): Promise<IssuedToken> {
  return exchangeToken(deps, await signedChallenge(deps, owner, request))
}

/** The code of the AppError that a promise rejects with, or its other result. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
