import { expect, test } from 'vitest'
import { EVENTS } from '#src/watches/events.ts'
import { describeEventData } from './events.ts'

test.each(EVENTS)('%s is described', (event) => {
  expect(describeEventData()).toContain(`\`${event}\`: `)
})
