import type * as operations from '../rest/watches.ts'
import type { ExamplesOf } from './define.ts'
import { at, EVENT, FIRED_AT, RECIPIENT, WALLET, WATCH } from './story.ts'

const target = { address: WALLET, asset: 'FLR' }

const created = {
  id: WATCH.id,
  type: 'wallet-balance',
  label: WATCH.label,
  target,
  settings: { threshold: '100', direction: 'any' },
  signals: [{ id: 'balance-change', enabled: true, parameters: {} }],
  recipientIds: null,
  notifies: [RECIPIENT.id],
  warnings: [],
  minSeverity: 'info',
  cooldownSeconds: 0,
  escalateAfterMinutes: null,
  escalateTo: [],
  status: 'active',
  mutedUntil: null,
  health: 'ok',
  signalStates: [
    { id: 'balance-change', state: 'unknown', since: null, severity: null, lastEvidenceAt: null },
  ],
  createdAt: at('08:45:00'),
  updatedAt: at('08:45:00'),
  lastEvaluatedAt: null,
  lastObservation: null,
  version: 1,
}

/** After the alert: its signal has no recovery, so its state is OK again. */
const evaluated = {
  ...created,
  signalStates: [
    {
      id: 'balance-change',
      state: 'ok',
      since: at('08:45:03'),
      severity: null,
      lastEvidenceAt: FIRED_AT,
    },
  ],
  lastEvaluatedAt: FIRED_AT,
  lastObservation: {
    position: 41_880_123,
    at: FIRED_AT,
    balanceUnits: '242500000000000000000',
    symbol: 'FLR',
    decimals: 18,
    movement: null,
  },
}

/** A watch on the wallet itself; at the end it is made less sensitive. */
export const watchExamples: ExamplesOf<typeof operations> = {
  listWatches: { response: { data: [evaluated], nextCursor: null } },
  createWatch: {
    request: {
      type: 'wallet-balance',
      label: WATCH.label,
      target,
      settings: { threshold: '100' },
    },
    response: created,
  },
  backtestWatch: {
    request: { type: 'wallet-balance', target, settings: { threshold: '100' } },
    response: {
      from: '2026-11-13T08:44:10.000Z',
      to: at('08:44:10'),
      days: 7,
      complete: false,
      gaps: [
        {
          code: 'sampled_balances',
          text: 'The balance was read at up to 15 points in time. All moves between two readings count as one.',
        },
      ],
      observations: 15,
      counts: { critical: 0, warning: 1, info: 0, recovery: 0 },
      incidentCounts: { critical: 0, warning: 1, info: 0 },
      perDay: [
        {
          from: '2026-11-13T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
        {
          from: '2026-11-14T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
        {
          from: '2026-11-15T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
        {
          from: '2026-11-16T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
        {
          from: '2026-11-17T08:44:10.000Z',
          counts: { critical: 0, warning: 1, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 1, info: 0 },
          known: true,
        },
        {
          from: '2026-11-18T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
        {
          from: '2026-11-19T08:44:10.000Z',
          counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
          incidents: { critical: 0, warning: 0, info: 0 },
          known: true,
        },
      ],
      incidents: [
        {
          title: '250 FLR left the wallet',
          severity: 'warning',
          startedAt: '2026-11-17T20:43:12.000Z',
          endedAt: null,
          count: 1,
          parts: [
            {
              signal: 'balance-change',
              event: EVENT,
              severity: 'warning',
              isRecovery: false,
              at: '2026-11-17T20:43:12.000Z',
              title: '250 FLR left the wallet',
            },
          ],
        },
      ],
      alerts: [
        {
          signal: 'balance-change',
          event: EVENT,
          severity: 'warning',
          isRecovery: false,
          at: '2026-11-17T20:43:12.000Z',
          title: '250 FLR left the wallet',
          data: {
            address: WALLET,
            asset: 'FLR',
            symbol: 'FLR',
            decimals: 18,
            previousAmount: '12992500000000000000000',
            currentAmount: '12742500000000000000000',
            changeAmount: '-250000000000000000000',
            threshold: '100',
            direction: 'outgoing',
            counterparty: null,
            transactionHash: null,
            transactions: [],
            transactionCount: 0,
            usd: null,
            blockNumber: 41_612_704,
            blockTime: '2026-11-17T20:43:12.000Z',
          },
        },
      ],
    },
  },
  getWatch: { response: evaluated },
  updateWatch: {
    request: { settings: { threshold: '250' }, cooldownSeconds: 300 },
    response: {
      ...evaluated,
      settings: { threshold: '250', direction: 'any' },
      cooldownSeconds: 300,
      updatedAt: at('21:20:00'),
      version: 2,
    },
  },
}
