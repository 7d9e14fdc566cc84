/** Brings the service to what a file says. Each step can be repeated, so that an apply that was ended half-way continues. */
import { createHash, randomUUID } from 'node:crypto'
import type { Watchdog } from '../client.ts'
import { WatchdogError } from '../errors.ts'
import type {
  Recipient,
  RecipientChanges,
  RecipientRequest,
  SettingsRequest,
  Watch,
  WatchChanges,
  WatchRequest,
} from '../generated/models.ts'
import { makePlan, type Plan, recipientChanges, type Step, watchChanges } from './plan.ts'
import { CommandError } from './problems.ts'
import { nameOf } from './show.ts'
import { readAgain } from './state.ts'
import type { Present, Wanted, WantedRecipient, WantedWatch } from './wanted.ts'

/** What an apply works with. */
export interface Applying {
  readonly watchdog: Watchdog
  readonly wanted: Wanted
  readonly prune: boolean
  /** Writes a line for a person. */
  say(line: string): void
  /** Keeps the signing secret of a new webhook, which the service shows once. */
  keepSecret(recipient: string, secret: string): Promise<void>
}

/** How many effects of one key that were deleted since are passed over, before a random key is taken. */
const RENEWALS_MAX = 8

/**
 * Carries out a plan, saying each step when it is done.
 *
 * @returns what is left: nothing, or what waits for a person
 * @throws WatchdogError, CommandError; what was said before has been done
 */
export async function applyPlan(applying: Applying, present: Present): Promise<Plan> {
  const { watchdog, wanted, prune } = applying
  const first = makePlan(present, wanted, prune)
  for (const step of first.steps.filter(isAboutRecipients)) await doStep(applying, present, step)
  for (const name of first.unlinked) await offerLink(applying, name)
  // Watches name recipients by number, and the numbers exist now.
  const between = withoutDoubles(await readAgain(watchdog, present), present)
  const second = makePlan(between, wanted, prune)
  for (const step of second.steps) {
    if (!isAboutRecipients(step)) await doStep(applying, between, step)
  }
  const after = await readAgain(watchdog, between)
  const doubles = await removeDoubles(applying, present, after)
  const last = doubles === 0 ? after : await readAgain(watchdog, after)
  return makePlan(withoutDoubles(last, present), wanted, prune)
}

/** What the service has, without what applies at the same time created twice and are about to delete. */
function withoutDoubles(now: Present, before: Present): Present {
  const lowest = <Item extends { readonly id: number }>(
    items: readonly Item[],
    known: readonly Item[],
    nameOfItem: (item: Item) => string,
  ) =>
    items.filter(
      (item) =>
        known.some(({ id }) => id === item.id) ||
        items.every((other) => nameOfItem(other) !== nameOfItem(item) || other.id >= item.id),
    )
  return {
    ...now,
    watches: lowest(now.watches, before.watches, ({ label }) => label),
    recipients: lowest(now.recipients, before.recipients, ({ name }) => name),
  }
}

function isAboutRecipients(step: Step): boolean {
  return step.what === 'recipient' && step.kind !== 'delete'
}

async function doStep(applying: Applying, present: Present, step: Step): Promise<void> {
  const { watchdog, say } = applying
  if (step.kind === 'delete') {
    await ignoreMissing(
      step.what === 'watch'
        ? watchdog.deleteWatch(step.present.id)
        : watchdog.deleteRecipient(step.present.id),
    )
    say(`deleted ${nameOf(step)}`)
  } else if (step.what === 'settings') {
    const { version } = present.settings
    // Safe: the settings as the service gave them, and fields of the file that were checked.
    const body = { ...step.body, version } as unknown as SettingsRequest
    await watchdog.replaceSettings(body, { ifMatch: `"${version}"` })
    say('changed settings')
  } else if (step.kind === 'create') {
    if (step.what === 'recipient') await createRecipient(applying, step.wanted, step.replaces)
    else await createWatch(applying, present, step.wanted, step.replaces)
    say(`${step.replaces === undefined ? 'created' : 'replaced'} ${nameOf(step)}`)
  } else if (step.what === 'recipient') {
    // Safe: fields of the file that were checked.
    const changed = await watchdog.updateRecipient(step.present.id, step.body as RecipientChanges)
    await keepSecretOf(applying, changed)
    say(`changed ${nameOf(step)}`)
  } else if (await changeWatch(applying, present, step.wanted, step.present)) {
    say(`changed ${nameOf(step)}`)
  }
}

async function ignoreMissing(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    // Another apply deleted it first.
    if (!(error instanceof WatchdogError && error.code === 'not_found')) throw error
  }
}

async function keepSecretOf(applying: Applying, { name, secret }: Recipient): Promise<void> {
  if (secret !== undefined) await applying.keepSecret(name, secret)
}

async function createRecipient(
  applying: Applying,
  wanted: WantedRecipient,
  replaces: Recipient | undefined,
): Promise<void> {
  const { watchdog } = applying
  if (replaces) await ignoreMissing(watchdog.deleteRecipient(replaces.id))
  // Safe: checked against the schema of the request.
  const body = wanted.body as unknown as RecipientRequest
  const made = await createOnce(['recipient', wanted.label, body], {
    create: (idempotencyKey, onAnswer) =>
      watchdog.createRecipient(body, { idempotencyKey, onAnswer }),
    find: async ({ id }) => {
      for await (const one of watchdog.allRecipients()) if (one.id === id) return one
      return undefined
    },
  })
  await keepSecretOf(applying, made)
  const left = recipientChanges(wanted, made)
  if (left.length === 0) return
  const sent = Object.fromEntries(left.map(({ field, after }) => [field, after]))
  await watchdog.updateRecipient(made.id, sent as RecipientChanges)
}

async function createWatch(
  applying: Applying,
  present: Present,
  wanted: WantedWatch,
  replaces: Watch | undefined,
): Promise<void> {
  const { watchdog } = applying
  if (replaces) await ignoreMissing(watchdog.deleteWatch(replaces.id))
  const ids = (names: readonly string[]) =>
    present.recipients.filter(({ name }) => names.includes(name)).map(({ id }) => id)
  const body = {
    ...wanted.body,
    recipientIds: ids(wanted.recipients),
    escalateTo: ids(wanted.escalateTo),
    // Safe: checked against the schema of the request.
  } as unknown as WatchRequest
  const made = await createOnce(['watch', wanted.label, body, replaces?.id], {
    create: (idempotencyKey, onAnswer) => watchdog.createWatch(body, { idempotencyKey, onAnswer }),
    find: ({ id }) => findWatch(watchdog, id),
  })
  await changeWatch(applying, present, wanted, made)
}

async function findWatch(watchdog: Watchdog, id: number): Promise<Watch | undefined> {
  try {
    return await watchdog.getWatch(id)
  } catch (error) {
    if (error instanceof WatchdogError && error.code === 'not_found') return undefined
    throw error
  }
}

type OnAnswer = (answer: { readonly headers: Headers }) => void

/**
 * Creates something once, also if several do it at the same time: its key follows from its name and contents. The
 * service remembers keys for a day. An effect that was deleted since, and a refusal, get another key.
 */
async function createOnce<Made extends { readonly id: number }>(
  contents: readonly unknown[],
  {
    create,
    find,
  }: {
    create(key: string, onAnswer: OnAnswer): Promise<Made>
    find(made: Made): Promise<Made | undefined>
  },
): Promise<Made> {
  let salt = ''
  for (let renewals = 0; ; renewals++) {
    let isReplay = false
    const note: OnAnswer = ({ headers }) => {
      isReplay = headers.get('idempotent-replayed') === 'true'
    }
    try {
      const made = await create(keyOf(contents, salt), note)
      if (!isReplay) return made
      const found = await find(made)
      // The secret of a webhook is in the stored answer only.
      if (found !== undefined) return { ...made, ...found }
      salt = renewals < RENEWALS_MAX ? `${salt}.${made.id}` : randomUUID()
    } catch (error) {
      if (salt.includes('-') || !isKept(error)) throw error
      salt = randomUUID()
    }
  }
}

/** A refusal that the service may have stored with the key, although its reason has gone. */
function isKept(error: unknown): boolean {
  return error instanceof WatchdogError && (error.status === 409 || error.status === 402)
}

function keyOf(contents: readonly unknown[], salt: string): string {
  const text = JSON.stringify([contents, salt])
  return `flare-watchdog-${createHash('sha256').update(text).digest('hex').slice(0, 40)}`
}

/**
 * Changes a watch as it is now, unless somebody else changed it since the plan.
 *
 * @returns whether there was something to change
 * @throws CommandError if somebody else changed it to something else
 */
async function changeWatch(
  { watchdog }: Applying,
  present: Present,
  wanted: WantedWatch,
  planned: Watch,
): Promise<boolean> {
  let tag = ''
  const onAnswer: OnAnswer = ({ headers }) => {
    tag = headers.get('etag') ?? ''
  }
  const now = await watchdog.getWatch(planned.id, { onAnswer })
  const known = present.recipients.map(({ name }) => name)
  const unlinked = [...wanted.recipients, ...wanted.escalateTo].filter(
    (name) => !known.includes(name),
  )
  const { changes, body } = watchChanges(present, wanted, now, unlinked)
  if (changes.length === 0) return false
  const stale = new CommandError(
    `watch "${wanted.label}" was changed by somebody else meanwhile: run plan again`,
  )
  if (now.version !== planned.version) throw stale
  try {
    // Safe: fields of the file that were checked.
    await watchdog.updateWatch(planned.id, body as WatchChanges, { ifMatch: tag })
    return true
  } catch (error) {
    if (!(error instanceof WatchdogError) || error.code !== 'etag_mismatch') throw error
    const after = await watchdog.getWatch(planned.id)
    if (watchChanges(present, wanted, after, unlinked).changes.length > 0) throw stale
    return false
  }
}

async function offerLink({ watchdog, say }: Applying, name: string): Promise<void> {
  const { url, groupUrl } = await watchdog.createTelegramLink({ name })
  say(`to link the chat "${name}", open within 15 minutes: ${url} (in a group: ${groupUrl})`)
}

/**
 * Deletes what this apply and another one, with another file, created under the same name at the same time. The one
 * with the lowest number stays, so that both decide the same.
 *
 * @param before what existed before the apply
 * @returns how many were deleted
 */
async function removeDoubles(
  { watchdog, wanted, say }: Applying,
  before: Present,
  after: Present,
): Promise<number> {
  let deleted = 0
  const remove = async (
    name: string,
    same: readonly { readonly id: number }[],
    known: readonly { readonly id: number }[],
    call: (id: number) => Promise<void>,
  ) => {
    const [, ...doubles] = same.toSorted((one, other) => one.id - other.id)
    for (const double of doubles.filter(({ id }) => !known.some((one) => one.id === id))) {
      await ignoreMissing(call(double.id))
      deleted += 1
      say(`deleted a second ${name}, which was created at the same time`)
    }
  }
  for (const { label } of wanted.watches ?? []) {
    const same = after.watches.filter((watch) => watch.label === label)
    await remove(`watch "${label}"`, same, before.watches, (id) => watchdog.deleteWatch(id))
  }
  for (const { label } of wanted.recipients ?? []) {
    const same = after.recipients.filter(({ name }) => name === label)
    const call = (id: number) => watchdog.deleteRecipient(id)
    await remove(`recipient "${label}"`, same, before.recipients, call)
  }
  return deleted
}
