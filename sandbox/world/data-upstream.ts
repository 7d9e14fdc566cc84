import { createServer } from 'node:http'
import { RESOURCES, type ResourceId } from '#src/billing/price-list.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { closeServer, listenOnLoopback } from '../loopback.ts'

/** An upstream server of metered data. The values are made up; only epochs and times are real. */
export interface DataUpstream {
  /** Base URL of each resource. */
  readonly urls: Readonly<Record<ResourceId, string>>
  close(): Promise<void>
}

/** Flare's voting epochs: start of the first, duration, and number per reward epoch. */
const FIRST_VOTING_EPOCH_S = 1_658_430_000
const VOTING_EPOCH_S = 90
const VOTING_EPOCHS_PER_REWARD_EPOCH = 3360

interface Epochs {
  readonly votingEpoch: number
  readonly rewardEpoch: number
}

const PROVIDERS = [
  { name: 'Northern Signal', weightBps: 412, feeBps: 2000, rewardRatePct: 0.0318 },
  { name: 'Quiet Oracle', weightBps: 377, feeBps: 1500, rewardRatePct: 0.0307 },
  { name: 'Harbour Light', weightBps: 208, feeBps: 2000, rewardRatePct: 0.0291 },
] as const

const ANSWERS: Readonly<Record<ResourceId, (epochs: Epochs) => object>> = {
  'ftso-analytics': ({ votingEpoch }) => ({
    votingEpoch,
    feeds: [
      { name: 'FLR/USD', value: '0.02', decimals: 7, submissions: 96, withinInnerBand: 61 },
      { name: 'XRP/USD', value: '2.5', decimals: 5, submissions: 97, withinInnerBand: 64 },
    ],
  }),
  'providers-rewards': ({ rewardEpoch }) => ({
    rewardEpoch: rewardEpoch - 1,
    providers: PROVIDERS,
  }),
  'rewards-intelligence-reports': ({ rewardEpoch }) => ({
    rewardEpoch: rewardEpoch - 1,
    title: `Rewards of epoch ${rewardEpoch - 1}`,
    best: PROVIDERS[0],
    providersCompared: PROVIDERS.length,
    missedSubmissionsPct: 0.4,
  }),
}

/** Starts it on loopback. Every path below a resource has the same answer, with the path in it. */
export async function startDataUpstream({ clock }: { clock: Clock }): Promise<DataUpstream> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://upstream.invalid')
    const resource = RESOURCES.find((id) => pathname.split('/')[1] === id)
    const now = clock.now()
    const status = resource === undefined ? 404 : 200
    const body =
      resource === undefined
        ? { error: 'no such data' }
        : { resource, path: pathname, asOf: now.toISOString(), ...ANSWERS[resource](epochsAt(now)) }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
  const port = await listenOnLoopback(server, 0)
  const urlOf = (resource: ResourceId) => `http://127.0.0.1:${port}/${resource}`
  return {
    urls: {
      'rewards-intelligence-reports': urlOf('rewards-intelligence-reports'),
      'providers-rewards': urlOf('providers-rewards'),
      'ftso-analytics': urlOf('ftso-analytics'),
    },
    close: () => closeServer(server),
  }
}

function epochsAt(now: Date): Epochs {
  const passedS = now.getTime() / 1000 - FIRST_VOTING_EPOCH_S
  const votingEpoch = Math.floor(passedS / VOTING_EPOCH_S)
  return { votingEpoch, rewardEpoch: Math.floor(votingEpoch / VOTING_EPOCHS_PER_REWARD_EPOCH) }
}
