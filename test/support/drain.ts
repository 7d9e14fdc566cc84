import { sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { type DeliverDeps, deliverDue } from '#src/delivery/service.ts'

/** Sends deliveries until nothing is due, as a process does whose clock stands still, or until `signal`. */
export async function drain(
  world: DeliverDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const deps = { ...world, sending: world.sending ?? createSendingState(world.channels) }
  do await deliverUntilQuiet(deps, signal)
  while (!signal.aborted && (await isSomethingDue(deps)))
}

/** Runs until the last look of each channel was quiet and nothing is due, also because of another channel. */
async function deliverUntilQuiet(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const busy = new Set<ChannelKey>(availableOf(deps).map(({ key }) => key))
  if (busy.size === 0) return
  let checking: Promise<void> | undefined
  const check = async () => {
    if (await isSomethingDue(deps)) deps.sending?.wake('')
    else if (busy.size === 0) stop.abort()
    checking = undefined
  }
  const onLook: DeliverDeps['onLook'] = (look) => {
    deps.onLook?.(look)
    if (!look.isQuiet) busy.add(look.channel)
    else {
      busy.delete(look.channel)
      if (busy.size === 0) checking ??= check().catch(stop.abort.bind(stop))
    }
  }
  await deliverDue({ ...deps, onLook }, AbortSignal.any([signal, stop.signal]))
  await checking
}

const availableOf = ({ channels }: DeliverDeps) =>
  Object.values(channels).filter((channel) => channel.available())

/** Whether a recipient is due, or a message whose content has changed. */
async function isSomethingDue(deps: DeliverDeps): Promise<boolean> {
  const now = deps.clock.now()
  const channels = availableOf(deps)
  const keysOf = (of: typeof channels) => sql.param(of.map(({ key }) => key))
  const [row] = await deps.db.execute<{ isDue: boolean }>(sql`
    select exists (
        select from delivery_heads where channel = any(${keysOf(channels)}::text[]) and due_at <= ${now})
      or exists (
        select from sent_messages
        where channel = any(${keysOf(channels.filter(({ edit }) => edit !== undefined))}::text[])
          and revise_at <= ${now} and (leased_until is null or leased_until <= ${now})) as "isDue"`)
  return row?.isDue === true
}
