import { expect, test } from 'vitest'
import { every } from '../../test/support/every.ts'
import { EVENTS, findEventSource } from './events.ts'

test('every event has an example that its schema accepts', () =>
  every(EVENTS, (event) => {
    const source = findEventSource(event)
    const example = source?.signal.examples[event]
    expect(example).toBeDefined()
    expect(source?.signal.data.safeParse(example).error).toBeUndefined()
  }))
