import type * as operations from '../rest/channels.ts'
import type { ExamplesOf } from './define.ts'
import { MAILBOX, TESTED } from './story.ts'

const unset = {
  available: true,
  configured: false,
  target: null,
  status: null,
  statusReason: null,
  lastSuccessAt: null,
  lastFailureAt: null,
}

const mailbox = { ...unset, configured: true, target: 'o…@example.org' }

/** The wallet's own mailbox, before its confirmation. */
export const channelExamples: ExamplesOf<typeof operations> = {
  listChannels: {
    response: {
      data: [
        { key: 'telegram', kind: 'link', ...unset },
        { key: 'email', kind: 'input', ...mailbox, status: 'active' },
        { key: 'webhook', kind: 'input', ...unset },
        { key: 'discord', kind: 'input', ...unset },
        { key: 'slack', kind: 'input', ...unset },
        { key: 'ntfy', kind: 'input', ...unset },
        { key: 'pagerduty', kind: 'input', ...unset },
      ],
      nextCursor: null,
    },
  },
  configureChannel: {
    request: { address: MAILBOX },
    response: { key: 'email', kind: 'input', ...mailbox, status: 'pending' },
  },
  testChannel: TESTED,
}
