import { expect, test } from 'vitest'
import type { LinkedEvidence } from '#src/alerts/evidence/evidence.ts'
import { translator } from '#src/i18n/translate.ts'
import { evidenceView } from './evidence-view.ts'

test('the page of a proof has the number of the incident, as every message and page has', () => {
  const linked = {
    ...{ locale: 'en', timezone: 'UTC', incidentId: 31 },
    evidence: {
      ...{ version: 1, alertId: 977, chainId: 14, event: 'fsp.ftso-commit', severity: 'warning' },
      ...{ firedAt: new Date('2026-11-20T08:00:00Z'), rule: null, data: {}, claim: null },
      ...{ unproven: 'other', blocks: null, transactions: [] },
      sources: { contracts: [], accounts: [], functions: [], events: [] },
    },
    message: { title: 'No commits', body: '', fields: [] },
  } as unknown as LinkedEvidence
  const { title } = evidenceView(translator('en'), linked, 'code')
  expect(title).toContain('31')
  expect(title).not.toContain('977')
})
