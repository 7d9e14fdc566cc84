/** Commands about one account: all about it, its data as a document, bans, deletion. */
import { z } from 'zod'
import { listAlerts } from '#src/alerts/history/history.ts'
import { banWallet, findBan, unbanWallet } from '#src/auth/bans.ts'
import { listTokens } from '#src/auth/service.ts'
import { getTerms, readBalance } from '#src/billing/account/service.ts'
import { getAccount } from '#src/billing/overview.ts'
import { listSubscriptions } from '#src/billing/subscriptions/service.ts'
import { listDeliveryLog } from '#src/delivery/log/delivery-log.ts'
import { type Caller, SCOPES } from '#src/kernel/caller.ts'
import { CANARY_WALLET } from '#src/kernel/canary.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { Page } from '#src/kernel/pagination.ts'
import type { Address } from '#src/kernel/units.ts'
import { deleteAccount } from '#src/operations/account-deletion.ts'
import type { App } from '#src/operations/define.ts'
import { restoreRecipients, withdrawAccess } from '#src/recipients/access.ts'
import { listDestinations } from '#src/recipients/destination-list.ts'
import { linkedAccounts } from '#src/recipients/linked-accounts.ts'
import { listCandidates, readRecipientsById } from '#src/recipients/service.ts'
import { getSettings } from '#src/recipients/settings.ts'
import { listWatches } from '#src/watches/manage/service.ts'
import { defineCommand } from '../define.ts'
import * as typed from './input.ts'

const LISTED = 10
const PAGE = 100

function callerOf(wallet: Address): Caller {
  return { wallet, scopes: SCOPES, via: 'http' }
}

/** Every row of a list with pages. */
async function everyRow<Row>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page<Row>>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page = await read(next === undefined ? {} : { cursor: next })
    rows.push(...page.data)
    next = page.nextCursor
  }
  return rows
}

/** Everything that the service holds about a wallet, as its owner could read it. */
async function readAll(app: App, wallet: Address) {
  const caller = callerOf(wallet)
  const destinations = await listDestinations(app, caller)
  const rows = await readRecipientsById(
    app.db,
    destinations.map(({ id }) => id),
  )
  const account = await getAccount(app, caller, { limit: 1 })
  return {
    wallet,
    account: { ...account, ledger: undefined },
    terms: await getTerms(app, caller),
    ban: (await findBan(app.db, wallet)) ?? null,
    ledger: await everyRow(
      async (cursor) => (await getAccount(app, caller, { limit: PAGE, ...cursor })).ledger,
    ),
    subscriptions: await everyRow((cursor) =>
      listSubscriptions({ ...app, linkedAccounts }, caller, { limit: PAGE, ...cursor }),
    ),
    watches: await everyRow((cursor) => listWatches(app, caller, { limit: PAGE, ...cursor })),
    recipients: destinations.map((destination) => ({
      ...destination,
      failingSince: rows.get(destination.id)?.failingSince ?? null,
    })),
    settings: await getSettings(app, caller),
    tokens: (await listTokens(app, caller)).data,
  }
}

export const walletCommand = defineCommand({
  name: 'wallet',
  values: ['wallet'],
  about:
    'Tells all about one wallet: balance, slots, watches, recipients, tokens, last entries and alerts.',
  isRead: true,
  input: z.strictObject({ wallet: typed.wallet }),
  async run({ app }, { wallet }) {
    const { account, terms, ban, ledger, subscriptions, watches, recipients, tokens } =
      await readAll(app, wallet)
    const alerts = await listAlerts(app, callerOf(wallet), { limit: LISTED })
    const active = tokens.filter(({ status }) => status === 'active')
    return {
      changed: false,
      lines: [
        `${wallet}: ${account.balanceCredits} credits, ${ledger.length} ledger entries, terms ${terms.acceptedVersion ?? 'not accepted'}`,
        ...(ban === null ? [] : [`banned since ${ban.bannedAt.toISOString()}: ${ban.reason}`]),
        `slots: ${account.slots.purchased} bought, ${account.slots.trial} of a trial, ${watches.length} watches`,
        ...subscriptions.map(
          (one) =>
            `subscription ${one.id}: ${one.quantity} slots, ${one.status}, until ${one.endsAt.toISOString()}, renewing ${one.autoRenew ? 'on' : 'off'}`,
        ),
        ...watches.map(
          ({ id, type, label, status, health }) =>
            `watch ${id}: ${type} “${label}”, ${status}, ${health}`,
        ),
        ...recipients.map(
          ({ id, channel, target, status, statusReason, failingSince }) =>
            `recipient ${id}: ${channel} ${target}, ${status}${statusReason === null ? '' : ` (${statusReason})`}${
              failingSince === null ? '' : `, failing since ${failingSince.toISOString()}`
            }`,
        ),
        ...active.map(
          ({ id, label, prefix, scopes }) =>
            `token ${id}: ${prefix}… “${label ?? ''}”, ${scopes.join(' ')}`,
        ),
        ...ledger
          .slice(0, LISTED)
          .map(
            ({ id, createdAt, type, deltaCredits, balanceAfterCredits, reference }) =>
              `entry ${id}: ${createdAt.toISOString()} ${type} ${deltaCredits} → ${balanceAfterCredits}, ${reference}`,
          ),
        ...alerts.data.map(
          ({ id, firedAt, event, state, deliveries }) =>
            `alert ${id}: ${firedAt.toISOString()} ${event}, ${state}, ${deliveries
              .map(({ recipientId, status }) => `recipient ${recipientId} ${status}`)
              .join(', ')}`,
        ),
      ],
    }
  },
})

export const exportCommand = defineCommand({
  name: 'export',
  values: ['wallet'],
  about: 'Writes everything that is stored about a wallet as one JSON document, for its owner.',
  isRead: true,
  input: z.strictObject({ wallet: typed.wallet }),
  async run({ app }, { wallet }) {
    const caller = callerOf(wallet)
    const all = await readAll(app, wallet)
    const alerts = await everyRow((cursor) => listAlerts(app, caller, { limit: PAGE, ...cursor }))
    const messages = await Promise.all(
      all.recipients.map(async ({ id: recipientId }) => ({
        recipientId,
        deliveries: await everyRow((cursor) =>
          listDeliveryLog(app, caller, { recipientId, limit: PAGE, ...cursor }),
        ),
      })),
    )
    return {
      changed: false,
      lines: [
        `${all.ledger.length} ledger entries, ${all.watches.length} watches, ${alerts.length} alerts`,
      ],
      document: { ...all, ban: undefined, alerts, messages },
    }
  },
})

export const ban = defineCommand({
  name: 'ban',
  values: ['wallet'],
  about:
    'Ends all access of a wallet and its messages: no sign-in, no tokens, no rights of chats, recipients off. What it paid stays.',
  input: z.strictObject({ wallet: typed.wallet, reason: typed.note }),
  async run({ app, at }, { wallet, reason }) {
    refuseCanary(wallet)
    const { isNew, revokedTokens } = await banWallet(app.db, { wallet, reason, bannedAt: at })
    const { chats, switchedOff } = await withdrawAccess(app.db, wallet, at)
    const did = `${revokedTokens} tokens revoked, ${chats} chats without rights, ${switchedOff} recipients off`
    return {
      changed: isNew || revokedTokens + chats + switchedOff > 0,
      lines: [`${wallet} ${isNew ? 'is banned' : 'was banned before'}: ${did}`],
    }
  },
})

export const unban = defineCommand({
  name: 'unban',
  values: ['wallet'],
  about:
    'Ends a ban. Recipients that it switched off are on again; its owner signs in and connects chats anew.',
  input: z.strictObject({ wallet: typed.wallet }),
  async run({ app, at }, { wallet }) {
    const wasBanned = await unbanWallet(app.db, wallet)
    if (!wasBanned) return { changed: false, lines: [`${wallet} is not banned`] }
    const on = await restoreRecipients(app.db, wallet, at)
    return {
      changed: true,
      lines: [`${wallet} is not banned any more; ${on} recipients are on again`],
    }
  },
})

export const deleteAccountCommand = defineCommand({
  name: 'delete-account',
  values: ['wallet'],
  about:
    'Deletes a wallet’s watches, alerts, recipients, messages and tokens. The ledger stays under a random name. --forfeit says the credits that are lost.',
  input: z.strictObject({
    wallet: typed.wallet,
    forfeit: z
      .string()
      .regex(/^\d{1,12}$/, 'the balance of the wallet')
      .transform(Number),
  }),
  async run({ app }, { wallet, forfeit: forfeitCredits }) {
    refuseCanary(wallet)
    const candidates = await listCandidates(app.db, wallet)
    if (candidates.some(({ isFollower }) => isFollower)) {
      throw new OperatorError(
        `${wallet} is not a person’s: it stands for the followers of a data provider`,
      )
    }
    const { balanceCredits } = await readBalance(app.db, wallet)
    if (balanceCredits !== forfeitCredits) {
      throw new OperatorError(
        `the wallet has ${balanceCredits} credits, which are lost: --forfeit ${balanceCredits}`,
      )
    }
    const gone = await deleteAccount(app, wallet, { wallet, forfeitCredits })
    return {
      changed: true,
      lines: [
        `${wallet} is deleted: ${gone.forfeitedCredits} credits lost, ${gone.recipients} recipients`,
        `its ledger is kept under ${gone.pseudonym}`,
      ],
    }
  },
})

function refuseCanary(wallet: Address): void {
  if (wallet === CANARY_WALLET)
    throw new OperatorError('this wallet is that of the synthetic alert')
}
