import { expect, test } from 'vitest'
import { runAndReportAlerts } from './report-alerts.ts'

test('an alert that arrives during the action is reported after what the action reports', async () => {
  const notes: string[] = []
  const over = new AbortController()
  const deliveries: unknown[] = []
  let announce: () => void = () => undefined
  const world = {
    telegram: { onChange: () => () => undefined },
    inbox: { mails: [], subscribe: () => () => undefined },
    receiver: {
      deliveries,
      subscribe: (listener: () => void) => {
        announce = listener
        return () => undefined
      },
    },
  }
  const note = (text: string) => notes.push(text)
  await runAndReportAlerts(
    world as never,
    { words: [], events: ['fsp.'] },
    { note, signal: over.signal },
    async () => {
      deliveries.push({ headers: { 'x-watchdog-event': 'fsp.ftso-commit' }, hook: 'h' })
      announce()
      note('rounds played')
      over.abort()
    },
  )
  expect(notes).toEqual(['rounds played', expect.stringMatching(/^alert at the hook “h” after/)])
})
