import { expect, test } from 'vitest'
import { describeEventData, EVENTS, findEventSource } from './events.ts'

test.each(
  EVENTS,
)('%s has an example that its own schema of data takes, and is described', (event) => {
  const source = findEventSource(event)
  const example = source?.signal.examples[event]
  expect(example).toBeDefined()
  expect(source?.signal.data.safeParse(example).error).toBeUndefined()
  expect(describeEventData()).toContain(`\`${event}\`: `)
})
