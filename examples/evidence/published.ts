/** Checks claims about what is published beside the chain. */
import { readFile } from 'node:fs/promises'
import { type Check, isEqual, must, mustBeIn, type ReadPublished } from './claim.ts'
import { bodyOf, Unchecked } from './request.ts'

const READ_MS = 30_000
/** Reward epochs within which a calculation is published. */
const CALCULATED_EPOCHS = 3

/** Reads a file, or a URL, with the number of the reward epoch in place of `{epoch}`. */
export function readerOf(place: string | undefined): ReadPublished {
  if (place === undefined) return undefined
  return async (epoch) => {
    const named = place.replaceAll('{epoch}', String(epoch))
    const isUrl = /^https?:/.test(named)
    try {
      return JSON.parse(isUrl ? await download(named) : await readFile(named, 'utf8'))
    } catch (error) {
      throw new Unchecked(`${named} cannot be read: ${(error as Error).message}`)
    }
  }
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(READ_MS) })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return bodyOf(response)
}

/**
 * A voter of the reward epoch that the published calculation calls not eligible. The chain says who was a voter;
 * the calculation is that of its publisher.
 */
export const eligibility: Check<'eligibility'> = async (protocol, claim, alert, { published }) => {
  const { rewardEpoch: epoch, provider: voter } = claim
  const present = Number(alert.data['rewardEpochId'])
  await mustBeIn(protocol, alert, [present - 1, present])
  must(epoch <= present, `reward epoch ${epoch} had not begun`)
  if (epoch < present - CALCULATED_EPOCHS) {
    throw new Unchecked(`the calculation of reward epoch ${epoch} was not news in ${present}`)
  }
  const { members } = await protocol.policy(epoch)
  must(
    members.some((member) => member.voter === voter),
    `the provider is no voter of reward epoch ${epoch}`,
  )
  if (published === undefined) {
    throw new Unchecked(
      `give the published calculation of reward epoch ${epoch}: --published passes.json, or a URL with {epoch}`,
    )
  }
  const rows = await published(epoch)
  if (!Array.isArray(rows)) throw new Unchecked('what is published is no list of providers')
  const named = rows.filter(
    (row) => isRecord(row) && String(row['voterAddress']).toLowerCase() === voter,
  )
  const others = rows.filter((row) => !isRecord(row) || Number(row['rewardEpochId']) !== epoch)
  if (others.length > 0) throw new Unchecked(`what is published is not of reward epoch ${epoch}`)
  const row: unknown = named[0]
  if (!isRecord(row)) {
    must(
      claim.passes === null && claim.failures.length === 0,
      'the calculation does not name the provider',
    )
    return `voter of reward epoch ${epoch}; the published calculation does not name it`
  }
  must(row['eligibleForReward'] === false, 'the published calculation calls it eligible')
  must((row['passes'] ?? null) === claim.passes, `it holds ${row['passes']} passes`)
  const failures = [row['failures'] ?? []]
    .flat()
    .map((failure) => (isRecord(failure) ? failure['failureId'] : undefined))
  must(isEqual(failures, claim.failures), `its failures are ${JSON.stringify(failures)}`)
  return `voter of reward epoch ${epoch}, and not eligible by the published calculation, which the chain does not prove`
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
