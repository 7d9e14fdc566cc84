import { expect, test } from 'vitest'
import { describeEventData, EVENTS, findEventSource } from './events.ts'

test.each(EVENTS)('%s is described and has an example that its schema accepts', (event) => {
  const source = findEventSource(event)
  const example = source?.signal.examples[event]
  expect(example).toBeDefined()
  expect(source?.signal.data.safeParse(example).error).toBeUndefined()
  expect(describeEventData()).toContain(`\`${event}\`: `)
})
