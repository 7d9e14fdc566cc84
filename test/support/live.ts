/** Changes live messages as a process of the bot does. */
import type { Api } from 'grammy'
import type { Sql } from 'postgres'
import { liveKinds } from '#bot/core/feature.ts'
import { createLiveMessages, type LiveMessages } from '#bot/core/live-messages.ts'
import { REGISTRY } from '#bot/features/index.ts'
import type { Service } from '#src/app.ts'
import { type RunningJobs, startJobs } from '#src/jobs/runner.ts'
import { showLiveMessages } from '#src/jobs/show-live-messages.ts'
import type { App } from '#src/operations/define.ts'
import { API_TIMEOUT_SECONDS, createApi } from '#src/telegram/api.ts'
import { BOT_NAME, BOT_TOKEN } from './harness.ts'

interface LiveWorld {
  readonly app: App
  readonly telegram: { readonly url: string }
}

/** A client of the local Bot API. */
export function apiOf({ telegram }: Pick<LiveWorld, 'telegram'>): Api {
  return createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, API_TIMEOUT_SECONDS)
}

/** The live messages of a process. */
function liveOf(world: LiveWorld, api = apiOf(world)): LiveMessages {
  return createLiveMessages(
    () => ({ app: world.app, api, username: BOT_NAME }),
    liveKinds(REGISTRY),
  )
}

/**
 * Changes the messages that are due, and those of these subjects, to the end.
 * @param options `api`: client of the Bot API
 */
export async function changeLive(
  world: LiveWorld,
  { handles, api }: { readonly handles?: readonly string[]; readonly api?: Api } = {},
): Promise<void> {
  const live = liveOf(world, api)
  await live.run(new Set(handles))
  await live.settled()
  // Throws what no check may throw.
  await live.run(new Set(), AbortSignal.abort())
}

/** Changes the messages that are due, and those of codes that were used or refused, whose commit notifies the bot. */
export async function notifyOutcomes(
  world: LiveWorld & { readonly sql: Sql },
  api?: Api,
): Promise<void> {
  const ended = await world.sql<{ hash: string }[]>`
    select hash from connect_codes where used_at is not null`
  await changeLive(world, { handles: ended.map(({ hash }) => hash), ...(api && { api }) })
}

/**
 * Runs the job of live messages, as several processes of the bot do, until the returned function is called. By default two.
 */
export async function startLiveJobs(
  world: LiveWorld & { readonly service: Service },
  processes = [liveOf(world), liveOf(world)],
): Promise<() => Promise<void>> {
  const start = (live: LiveMessages): Promise<RunningJobs> => {
    const bot = {
      showLive: (signal: AbortSignal, handles: ReadonlySet<string>) => live.run(handles, signal),
    }
    return startJobs({ ...world.service.app, bot }, world.service.sql, [showLiveMessages])
  }
  const jobs = await Promise.all(processes.map(start))
  return async () => {
    await Promise.all(jobs.map((running) => running.stop()))
    await Promise.all(processes.map((live) => live.settled()))
  }
}
