import { expect, test } from 'vitest'
import { EVENTS } from '#src/watches/events.ts'
import { every } from '../../../test/support/every.ts'
import { describeEventData } from './events.ts'

test('every event is described', () =>
  every(EVENTS, (event) => {
    expect(describeEventData()).toContain(`\`${event}\`: `)
  }))
