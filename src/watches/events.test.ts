import { expect, test } from 'vitest'
import { EVENTS, findEventSource } from './events.ts'

test.each(EVENTS)('%s has an example that its schema accepts', (event) => {
  const source = findEventSource(event)
  const example = source?.signal.examples[event]
  expect(example).toBeDefined()
  expect(source?.signal.data.safeParse(example).error).toBeUndefined()
})
