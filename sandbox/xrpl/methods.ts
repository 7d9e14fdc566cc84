import { z } from 'zod'
import { isClassicAddress } from '#src/chain/xrpl/xrpl-address.ts'
import { XrplRefusal } from './errors.ts'
import type { Ledger, LedgerHistory, PlacedTransaction } from './ledger.ts'
import { closeTimeOf, entryOf, isoTime, type JsonObject, transactionOf } from './wire.ts'

/** The history that a server has, possibly incomplete. */
export interface ServerView {
  readonly history: LedgerHistory
  /** Indexes of the server's oldest and newest validated ledger. */
  range(): { readonly min: number; readonly max: number }
  /** Upper limit of the transactions per page. */
  pageSize(): number
  isSynced(): boolean
}

type Parameters = Readonly<Record<string, unknown>>
type Method = (view: ServerView, parameters: Parameters, apiVersion: number) => JsonObject

/**
 * Results by method.
 * @throws XrplRefusal
 */
export const XRPL_METHODS: Readonly<Record<string, Method>> = {
  server_info: serverInfo,
  ledger,
  account_info: accountInfo,
  account_tx: accountTx,
  tx,
}

const BASE_FEE_XRP = 0.00001
const PAGE_SIZE = 200
const Marker = z.object({ ledger: z.int(), seq: z.int() })

function serverInfo(view: ServerView): JsonObject {
  const { min, max } = view.range()
  const newest = ledgerAt(view, max)
  const state = view.isSynced()
    ? {
        complete_ledgers: `${min}-${max}`,
        server_state: 'full',
        validated_ledger: {
          age: 2,
          base_fee_xrp: BASE_FEE_XRP,
          hash: newest.hash,
          reserve_base_xrp: 1,
          reserve_inc_xrp: 0.2,
          seq: newest.index,
        },
      }
    : { complete_ledgers: 'empty', server_state: 'connected', network_ledger: 'waiting' }
  return { info: { build_version: '2.5.0', load_factor: 1, network_id: 0, peers: 21, ...state } }
}

function ledger(view: ServerView, parameters: Parameters): JsonObject {
  const ledger = namedLedger(view, parameters['ledger_index'] ?? 'validated')
  return {
    ledger: {
      closed: true,
      close_time: closeTimeOf(ledger),
      close_time_iso: isoTime(ledger),
      ledger_hash: ledger.hash,
      ledger_index: ledger.index,
      parent_hash: ledger.parentHash,
    },
    ledger_hash: ledger.hash,
    ledger_index: ledger.index,
    validated: true,
  }
}

function accountInfo(view: ServerView, parameters: Parameters): JsonObject {
  const account = accountOf(parameters)
  const { hash, index } = namedLedger(view, parameters['ledger_index'] ?? 'current')
  const place = { ledger_hash: hash, ledger_index: index, validated: true }
  const balance = account === view.history.address ? view.history.balanceAt(index) : 0n
  if (balance === 0n) throw new XrplRefusal('actNotFound', { account, ...place })
  const last = view.history.placed.findLast(({ ledger }) => ledger.index <= index)
  const data = {
    Account: account,
    Balance: balance.toString(),
    Flags: 131_072,
    LedgerEntryType: 'AccountRoot',
    OwnerCount: 0,
    Sequence: 1,
    ...(last && {
      PreviousTxnID: last.transaction.hash,
      PreviousTxnLgrSeq: last.ledger.index,
    }),
  }
  return { account_data: data, ...place }
}

function accountTx(view: ServerView, parameters: Parameters, apiVersion: number): JsonObject {
  const account = accountOf(parameters)
  if (!view.isSynced()) throw new XrplRefusal(apiVersion === 1 ? 'lgrIdxsInvalid' : 'notSynced')
  for (const name of ['binary', 'forward']) {
    if (apiVersion > 1 && !['boolean', 'undefined'].includes(typeof parameters[name])) {
      throw new XrplRefusal('invalidParams', { message: `Invalid field '${name}'.` })
    }
  }
  const range = searchedRange(view, parameters, apiVersion)
  const isForward = parameters['forward'] === true
  const inRange = view.history.placed.filter(
    ({ ledger: { index } }) =>
      account === view.history.address && index >= range.min && index <= range.max,
  )
  const ordered = isForward ? inRange : inRange.toReversed()
  const limit = Math.min(numberOr(parameters['limit'], PAGE_SIZE), view.pageSize())
  const start = startOf(ordered, parameters['marker'])
  const next = ordered[start + limit]
  return {
    account,
    ledger_index_min: range.min,
    ledger_index_max: range.max,
    limit,
    transactions: ordered
      .slice(start, start + limit)
      .map((placed) => entryOf(placed, view.history.address, apiVersion)),
    validated: true,
    ...(next && { marker: { ledger: next.ledger.index, seq: next.index } }),
  }
}

function tx(view: ServerView, parameters: Parameters, apiVersion: number): JsonObject {
  const { transaction } = parameters
  if (typeof transaction !== 'string') throw new XrplRefusal('invalidParams')
  if (!/^[0-9A-Fa-f]{64}$/.test(transaction)) throw new XrplRefusal('notImpl')
  const { history } = view
  const hash = transaction.toUpperCase()
  const { min, max } = view.range()
  const isHeld = ({ ledger: { index } }: PlacedTransaction) => index >= min && index <= max
  const placed = history.placed.find((entry) => entry.transaction.hash === hash && isHeld(entry))
  const waiting = history.waiting.find((transaction) => transaction.hash === hash)
  if (placed === undefined && waiting === undefined) throw new XrplRefusal('txnNotFound')
  return transactionOf(placed ?? waiting, history.address, apiVersion)
}

function accountOf({ account }: Parameters): string {
  if (account === undefined) {
    throw new XrplRefusal('invalidParams', { message: "Missing field 'account'." })
  }
  if (typeof account !== 'string') {
    throw new XrplRefusal('invalidParams', { message: "Invalid field 'account'." })
  }
  if (!isClassicAddress(account)) throw new XrplRefusal('actMalformed')
  return account
}

/** The ledgers that a server searches for a request; version 2 refuses missing ones. */
function searchedRange(
  view: ServerView,
  parameters: Parameters,
  apiVersion: number,
): { readonly min: number; readonly max: number } {
  const held = view.range()
  const min = numberOr(parameters['ledger_index_min'], -1)
  const max = numberOr(parameters['ledger_index_max'], -1)
  const isOutside = (min > 0 && min < held.min) || max > held.max
  if (apiVersion > 1 && isOutside) throw new XrplRefusal('lgrIdxMalformed')
  const searched = {
    min: Math.max(min, held.min),
    max: max < 0 ? held.max : Math.min(max, held.max),
  }
  if (searched.max >= searched.min) return searched
  throw new XrplRefusal(apiVersion === 1 ? 'lgrIdxsInvalid' : 'invalidLgrRange')
}

/** Index of the first transaction of the page. */
function startOf(ordered: readonly PlacedTransaction[], marker: unknown): number {
  if (marker === undefined) return 0
  const { data } = Marker.safeParse(marker)
  if (data === undefined) {
    const message =
      'invalid marker. Provide ledger index via ledger field, and transaction sequence number via seq field'
    throw new XrplRefusal('invalidParams', { message })
  }
  const start = ordered.findIndex(
    ({ ledger: { index }, index: seq }) => index === data.ledger && seq === data.seq,
  )
  return start === -1 ? ordered.length : start
}

function namedLedger(view: ServerView, name: unknown): Ledger {
  const { min, max } = view.range()
  const index = typeof name === 'string' && !/^\d+$/.test(name) ? max : Number(name)
  if (index < min || index > max) throw new XrplRefusal('lgrNotFound')
  return ledgerAt(view, index)
}

function ledgerAt({ history }: ServerView, index: number): Ledger {
  const ledger = history.find(index)
  if (ledger === undefined) throw new XrplRefusal('lgrNotFound')
  return ledger
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}
