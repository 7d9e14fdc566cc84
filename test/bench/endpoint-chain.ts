import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startProtocolData } from '#sandbox/world/protocol-data.ts'
import { systemClock } from '#src/kernel/clock.ts'
import type { EndpointChain } from './endpoint-run.ts'

/**
 * A local chain with a block a second and a hundred providers that submit in real time, and what is published
 * about them, in a process of its own. Prints its addresses.
 */

const PROVIDERS = 100
const ROUND_SECONDS = 90
/** Complete rounds before the services start, so that rounds can be judged at once. */
const ROUNDS_BEFORE = 4
const EPOCH_ROUNDS = 3360
/** Reward epochs that end before the services start: as on a real chain, the last two have policies and votes. */
const EPOCHS_BEFORE = 2
/** The first round of the chain, shortly before the end of a reward epoch. */
const FIRST_ROUND = 301 * EPOCH_ROUNDS - 20
/** The present round is that far into its reward epoch, so that none ends during a run. */
const ROUNDS_INTO_EPOCH = 1000

const playedRounds = 20 + (EPOCHS_BEFORE - 1) * EPOCH_ROUNDS + ROUNDS_INTO_EPOCH
const startsAt = Math.floor(systemClock.now().getTime() / 1000) - playedRounds * ROUND_SECONDS
const firstRoundStart = startsAt - FIRST_ROUND * ROUND_SECONDS
const devnet = await startDevnet({
  contracts: true,
  blockTimeSeconds: 1,
  startsAt: new Date(startsAt * 1000),
})
const simulation = await createProviderSimulation(devnet, {
  providers: Array.from({ length: PROVIDERS }, (_, index) => ({ name: `Provider ${index + 1}` })),
  timing: { firstRoundStart },
})
for (let ended = 0; ended < EPOCHS_BEFORE; ended += 1) await simulation.playToEpochEnd()
await simulation.playTo(startsAt + (playedRounds - ROUNDS_BEFORE) * ROUND_SECONDS)
await catchUp(simulation)
const published = await startProtocolData({ simulation, clock: systemClock })
const chain: EndpointChain = {
  rpcUrl: devnet.rpcUrl,
  socketUrl: devnet.socketUrl,
  timing: { firstRoundStart, roundSeconds: ROUND_SECONDS },
  providers: simulation.providers.map(({ accounts }) => accounts.identity.address),
  environment: {
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    PAYMENT_ROUTER: devnet.contracts.router,
    NATIVE_PAY_TO: devnet.contracts.payTo,
    SERVICE_TOKEN_ADDRESS: devnet.contracts.serviceToken,
    SERVICE_TOKEN_USD_MICROS: '1000',
    WFLR_ADDRESS: devnet.contracts.wflr,
    FXRP_ADDRESS: devnet.contracts.fxrp,
    PROVIDER_DATASET_URL: published.passesUrl,
    REWARD_DATA_URLS: published.rewardsUrl,
    P_CHAIN_RPC_URL: published.pChainUrl,
  },
}
process.stdout.write(`${JSON.stringify(chain)}\n`)
await simulation.keepUp(systemClock, new AbortController().signal, (error) => {
  process.stderr.write(`simulated providers failed, and try again: ${error}\n`)
})

/** Plays the rounds up to the present, which moves on meanwhile. */
async function catchUp({ playTo }: ProviderSimulation): Promise<void> {
  for (let played = 0; ; ) {
    const now = Math.floor(systemClock.now().getTime() / 1000)
    if (now <= played + 1) return
    await playTo(now, { inFull: true })
    played = now
  }
}
